// The editor of the kata page: CodeMirror with Python, and what the page asks of it. Built by tools/editor.py.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState } from "@codemirror/state";
import {
  EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Colours are the page's variables, so that the editor follows its scheme.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
  { tag: [tags.className, tags.definition(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: "var(--name)" },
  { tag: tags.self, color: "var(--builtin)" },
]);

const looks = EditorView.theme({
  "&": { backgroundColor: "var(--card)", color: "var(--text)", height: "100%", fontSize: ".875rem" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: ".5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--well)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selected)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)" },
  ".cm-selectionMatch": { backgroundColor: "var(--selected)" },
  ".cm-searchMatch": { backgroundColor: "var(--open-soft)", outline: "1px solid var(--open-fill)" },
  ".cm-panels": { backgroundColor: "var(--well)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panel input, .cm-panel button": { font: "inherit", color: "inherit", background: "var(--card)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-diagnostic": { maxWidth: "34rem", whiteSpace: "pre-wrap" },
});

/**
 * An editor in `parent`. `newline` is how the file ends its lines. `deeds` are what the page does:
 * `grade()`, `save()`, `leave()`, `changed()`.
 */
export function open({ parent, text, newline, label, description, nonce, deeds }) {
  const doing = (deed) => () => { deed(); return true; };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorState.lineSeparator.of(newline),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": description }),
        keymap.of([
          { key: "Mod-Enter", run: doing(deeds.grade) },
          { key: "Mod-s", run: doing(deeds.save), preventDefault: true },
        ]),
        lineNumbers(), lintGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(),
        highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
        search({ top: true }), indentUnit.of("    "), EditorState.tabSize.of(4),
        python(), syntaxHighlighting(colours), looks,
        keymap.of([...searchKeymap, ...lintKeymap, ...historyKeymap]),
        // After the search's own Escape: the one that nobody else wanted leaves the editor.
        keymap.of([{ key: "Escape", run: doing(deeds.leave) }, indentWithTab, ...defaultKeymap]),
        EditorView.updateListener.of((update) => { if (update.docChanged) deeds.changed(); }),
      ],
    }),
  });
  const here = (line) => {
    const { doc } = view.state;
    return doc.line(Math.min(Math.max(line, 1), doc.lines));
  };
  return {
    /** The text with the file's own line ends. */
    text: () => view.state.sliceDoc(),
    /** Another text, with the cursor where it was as far as there is such a place; it can be undone. */
    replace(other) {
      const at = view.state.selection.main.head;
      const insert = view.state.toText(other);
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert },
        selection: EditorSelection.cursor(Math.min(at, insert.length)),
      });
    },
    /** Mark lines: [{ line, sentence, wrong }]. */
    mark(marks) {
      const found = marks.map(({ line, sentence, wrong }) => {
        const { from, to } = here(line);
        return { from, to, severity: wrong ? "error" : "info", message: sentence };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    /** Go to a line. */
    show(line) {
      view.dispatch({ selection: { anchor: here(line).from }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
  };
}
