/** `820 µs`, `12.4 ms`, `1.50 s`. */
export function duration(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`
  if (us < 10_000) return `${(us / 1000).toFixed(2)} ms`
  if (us < 1_000_000) return `${(us / 1000).toFixed(1)} ms`
  return `${(us / 1e6).toFixed(2)} s`
}

/** For axis ticks: `1 ms`, `2.5 s`. */
export function shortDuration(us: number): string {
  const [value, unit] = us < 1000 ? [us, 'µs'] : us < 1e6 ? [us / 1000, 'ms'] : [us / 1e6, 's']
  return `${Number(value.toPrecision(3))} ${unit}`
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')

/** Rates per second: `0.001`, `2.3`, `12`, `1,200`. */
export const perSecond = (value: number): string => (value < 10 ? String(Number(value.toPrecision(2))) : whole(value))

export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`

/** The first column is left-aligned. */
export function table(rows: readonly (readonly string[])[], indent = '  '): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map(
      (row) =>
        indent + row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n')
}
