/**
 * @returns the name that differs only in case or by at most two characters (one for short names),
 * or that starts with `name`; null: none, or several
 */
export function nearest(name: string, names: readonly string[]): string | null {
  const written = name.toLowerCase()
  let [found, least]: [string | null, number] = [null, written.length < 5 ? 2 : 3]
  for (const each of names) {
    if (each === name) continue
    const known = each.toLowerCase()
    const away = written.length > 2 && known.startsWith(written) ? 1 : distance(written, known)
    if (away < least) [found, least] = [each, away]
  }
  return found
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
  }
  return row.at(-1)!
}
