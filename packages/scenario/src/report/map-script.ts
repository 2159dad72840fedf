export const mapStyle = `
.scroll{overflow-x:auto}.zone{fill:var(--rule)}.row rect{height:var(--row)}.legend.shards{gap:2px 12px;font-size:12px;display:grid;grid-template-columns:repeat(auto-fill,minmax(86px,1fr))}.legend.shards i{display:inline-block;width:12px;height:12px;margin-right:5px;border-radius:2px;vertical-align:-1px}.legend.shards span{cursor:default;white-space:nowrap}
.widthby button{font:inherit;color:var(--soft);background:none;border:1px solid var(--rule);border-radius:5px;padding:1px 9px;cursor:pointer}.widthby button[aria-pressed=true]{color:var(--ink);border-color:var(--ink)}.widthby[hidden]{display:none}`

/** Without the script, ranges are as wide as their bytes, and names are only below the map. */
export const mapScript = `
for (const figure of document.querySelectorAll('figure.owners')) {
  const svg = figure.querySelector('svg.map'), choice = figure.querySelector('.widthby')
  const title = svg.querySelector('.title'), label = svg.querySelector('.widths')
  const names = new Map([...figure.querySelectorAll('[data-tone]')].map((each) => [each.dataset.tone, each]))
  const dim = (tone) => {
    for (const rect of svg.querySelectorAll('.row rect, .strip rect')) rect.style.opacity = tone === null || rect.getAttribute('class') === tone ? '' : 0.12
  }
  for (const [tone, name] of names) {
    name.addEventListener('pointerenter', () => dim(tone))
    name.addEventListener('pointerleave', () => dim(null))
  }
  svg.addEventListener('pointermove', ({ target }) => {
    const name = names.get(target.getAttribute('class'))
    title.textContent = svg.getAttribute('aria-label') + (name ? ': ' + name.textContent : '')
  })
  if (!choice) continue
  choice.hidden = false
  const buttons = [...choice.querySelectorAll('button')]
  const left = Number(svg.dataset.left)
  for (const button of buttons)
    button.addEventListener('click', () => {
      const by = button.dataset.by, edges = svg.dataset[by].split(' ').map(Number)
      for (const other of buttons) other.setAttribute('aria-pressed', other === button)
      label.textContent = 'shard key; ranges are as wide as their ' + (by === 'bytes' ? 'bytes at the end' : 'keys')
      for (const part of svg.querySelectorAll('[data-c]')) {
        const [from, to] = part.dataset.c.split(' ').map((at) => edges[Number(at)])
        if (part.tagName === 'text') {
          part.setAttribute('x', left + (from + to) / 2)
          part.setAttribute('visibility', part.textContent.length * 7 < to - from ? 'visible' : 'hidden')
        } else {
          part.setAttribute('x', left + from)
          part.setAttribute('width', to - from + 0.5)
        }
      }
    })
}`
