/**
 * Places of points without a neighbour, which no line shows.
 * @param values of a line; undefined is an x of another line, null a gap
 */
export function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const own = Array.from(values, (value, place) => ({ value, place })).filter(({ value }) => value !== undefined)
  const isPoint = (i: number): boolean => typeof own[i]?.value === 'number'
  return own.filter((_, i) => isPoint(i) && !isPoint(i - 1) && !isPoint(i + 1)).map(({ place }) => place)
}
