/** `1 finding`, `2 findings`; with `write` for numbers that may be large, `1,200 findings`. */
export function counted(count: number, noun: string, write: (count: number) => string = String): string {
  return `${write(count)} ${noun}${count === 1 ? '' : 's'}`
}
