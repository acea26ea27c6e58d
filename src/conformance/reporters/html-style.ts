/** Style sheet. Text has a contrast of at least 4.5 in both colour schemes. */
export const STYLE = `
:root{--ground:#fff;--text:#1c2024;--soft:#5b6570;--line:#d9dee3;--panel:#f5f7f9;--good:#17693a;--bad:#b3202a;--odd:#815100}
@media(prefers-color-scheme:dark){:root{--ground:#14171a;--text:#e6e9ec;--soft:#9aa5b1;--line:#333a42;--panel:#1d2126;--good:#69cf94;--bad:#ff8b8b;--odd:#e5b45b}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.7rem;margin:0 0 1rem}
h2{font-size:1.1rem;margin:2rem 0 .4rem}
small{color:var(--soft);font-weight:400;font-size:.85em;margin-left:.4em}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.passed{--tone:var(--good)}.failed{--tone:var(--bad)}.skipped,.accepted{--tone:var(--odd)}
.verdict,.counts span,.mark{color:var(--tone)}
.verdict{font-weight:400;margin-left:.4em}
.counts span{margin-right:1.5em}
.counts b{font-size:1.4rem}
.obstacle{border-left:4px solid var(--odd);background:var(--panel);padding:.6rem 1rem}
details{border-top:1px solid var(--line);padding:.35rem 0}
details[open]{padding-bottom:.8rem}
summary{cursor:pointer;overflow-wrap:anywhere}
summary:focus-visible{outline:2px solid var(--tone)}
.mark{display:inline-block;min-width:4.2em;font-weight:600;font-size:.9em}
summary>code{font-weight:600;margin-right:.5em}
details dl{margin:.5rem 0 0 1.2rem;padding:.6rem .9rem;background:var(--panel);border-radius:6px;font-size:.95em}
code,pre{font:.9em/1.45 ui-monospace,monospace}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;max-height:20rem;overflow:auto}
`;
