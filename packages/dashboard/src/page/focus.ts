/**
 * Keeps the focus of the keyboard near its place when its element goes, as a button may that was
 * clicked.
 */

const focusable = ':is(button, a, input, select, summary):not(:disabled), [tabindex="0"]'

/** The focused element and its ancestors, to be found again after the page has been drawn. */
export function pathOfFocus(root: HTMLElement): readonly Element[] {
  const path: Element[] = []
  for (
    let each = document.activeElement;
    each !== null && each !== root && root.contains(each);
    each = each.parentElement
  )
    path.push(each)
  return path
}

/** Focuses the first element that can have it in the nearest ancestor that is left. */
export function keepFocus([focused, ...ancestors]: readonly Element[]): void {
  if (focused === undefined || (focused.isConnected && !focused.matches(':disabled'))) return
  for (const ancestor of ancestors) {
    const near = ancestor.isConnected ? ancestor.querySelector<HTMLElement>(focusable) : null
    if (near !== null) return near.focus()
  }
}
