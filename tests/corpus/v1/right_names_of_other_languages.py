import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    # Deutsch: Anfrage, Schlüssel, Wert
    def __init__(self, breite=728):
        super().__init__()
        self.anfrage = nn.Linear(breite, breite)
        self.schluessel = nn.Linear(breite, breite)
        self.wert = nn.Linear(breite, breite)
        self.wurzel = breite**0.5

    def forward(self, eingabe):
        punkte = self.anfrage(eingabe) @ self.schluessel(eingabe).transpose(1, 2)  # (B, S, S)
        gewichte = (punkte / self.wurzel).softmax(-1)
        return gewichte @ self.wert(eingabe)
