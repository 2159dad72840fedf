/**
 * @returns the name that differs only in case or by at most two characters (one for short names;
 * two swapped neighbours count as one), or that starts with `name`; null: none
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

/** `did you mean crash?`; null: no name is like it. */
export function suggestion(name: string, names: readonly string[]): string | null {
  const meant = nearest(name, names)
  return meant === null ? null : `did you mean ${meant}?`
}

/** Characters to insert, remove, replace or swap with their neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const [above, row] = [rows[i - 1]!, [i]]
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), swapped))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
