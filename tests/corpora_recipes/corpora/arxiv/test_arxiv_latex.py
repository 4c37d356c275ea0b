"""LaTeX in abstracts: what becomes plain text, and what is marked as lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.arxiv.recipe import LOST, plain


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        # Accents, letters and quotation marks.
        (r"Erd\H{o}s, B\'{o}na and K\"ahler", "Erdős, Bóna and Kähler"),
        (r"Djokovi\'{c}, Poincar\'e, \'{\i}, \v{C}ech", "Djoković, Poincaré, í, Čech"),
        (r"Stra{\ss}e in \L{}od\'z", "Straße in Łodź"),
        ("a `good' idea, don't", "a ‘good’ idea, don't"),
        # Dashes, but neither arrows nor options.
        ("a---b, Yang--Mills, 5--6, x -- y", "a—b, Yang–Mills, 5–6, x – y"),
        ("D0 --> K and --flag=3", "D0 --> K and --flag=3"),
        # Ties; elsewhere a tilde means "about".
        ("Smith et~al. in Fig.~3, 10~km", "Smith et al. in Fig. 3, 10 km"),
        ("z~2.5 and ~30 stars", "z~2.5 and ~30 stars"),
        # Fonts, escapes, capitals that are kept.
        (r"50\% of {\em all} \emph{the {\bf data}}", "50% of all the data"),
        (r"\textit{in situ}, R\&D, {B}ayesian", "in situ, R&D, Bayesian"),
        # Citations at the end of a clause; as a noun they are lost.
        (r"as was shown~\cite{a,b}, and more [\ref{c}].", "as was shown, and more."),
        (r"the method of \cite{a} fails", f"the method of {LOST} fails"),
        # Formulae.
        (r"$\alpha \leq 10^{-3}$", "α ≤ 10⁻³"),
        (r"$V_{\rm rot} \sin i = 28.9 \pm 1.0$", "V_rot sin i = 28.9 ± 1.0"),
        (r"$\sqrt{s}=13$ TeV, $\frac{1}{2}$, $x^{k+1}_{ij}$", "√s = 13 TeV, 1/2, x^(k+1)_ij"),
        (r"$\tilde{O}(n\log n)$, $\bar x$, $\mathbb{Z}/p\mathbb{Z}$", "Õ(n log n), x̄, Z/pZ"),
        (r"the $k$-th, $5\sigma$, $^{13}$C, $e^+e^-$, $H_2$O", "the k-th, 5σ, ¹³C, e⁺e⁻, H₂O"),
        (r"$\{x : x>0\}$", "{x : x > 0}"),
        (r"$$a = b$$ and \(c\)", "a = b and c"),
        (r"a pair of \pi mesons and G_{k,1}", "a pair of π mesons and G_(k,1)"),
        # Prices are no formulae.
        (r"costs \$5 or $6 million", "costs $5 or $6 million"),
        ("between $5 and about the same $6 a day", "between $5 and about the same $6 a day"),
        # What is lost.
        (r"the \mymacro here", f"the {LOST} here"),
        (r"by $\begin{array} a \end{array}$.", f"by {LOST}."),
        (f"by ${'x+' * 30}x$.", f"by {LOST}."),
        ("a $ sign", f"a {LOST} sign"),
        ("of $n$. %and more", f"of n. {LOST}and more"),
    ],
)
def test_plain(latex: str, text: str) -> None:
    assert plain(latex) == text


@given(st.text())
def test_any_text_without_latex_stays(text: str) -> None:
    if not set(text) & set("\\${}`~%^_\ufe69❴❵\x01\x02") and "--" not in text:
        assert plain(text) == text


@given(st.text(alphabet="\\${}^_~`'%-[](). aAbn1\n"))
def test_any_latex_is_put_in_plain_text_or_lost(text: str) -> None:
    found = plain(text)
    assert "\x01" not in found
    assert "\x02" not in found
    assert not (found.count("\\") and "\\" not in text)
