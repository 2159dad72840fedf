/** Finds parts of a page, wherever they are in it. */
import type { Cell, LineChart, ReportPage, ReportPart, Table } from '../../src/index.js'

/** Also those in details and in runs. */
export function allParts({ parts }: Pick<ReportPage, 'parts'>): ReportPart[] {
  return parts.flatMap((part) => {
    if (part.kind === 'details') return [part, ...allParts(part)]
    return part.kind === 'instants' ? [part, ...part.charts] : [part]
  })
}

export const partsOf = <Kind extends ReportPart['kind']>(page: ReportPage, kind: Kind) =>
  allParts(page).filter((part): part is Extract<ReportPart, { kind: Kind }> => part.kind === kind)

/** @throws Error the page has no such chart */
export function chartOf(page: ReportPage, title: string): LineChart {
  const found = partsOf(page, 'lines').find((chart) => chart.title === title)
  if (found === undefined) throw new Error(`The page has no chart with the title ${title}.`)
  return found
}

/** The texts of all cells. @throws Error there is no such table */
export function rowsOf(page: ReportPage, label: string): string[][] {
  const found = partsOf(page, 'table').find((each) => each.label === label)
  if (found === undefined) throw new Error(`The page has no table ${label}.`)
  return textsOf(found)
}

export const textsOf = ({ rows }: Table): string[][] => rows.map(({ cells }) => cells.map(textOf))

function textOf(cell: Cell): string {
  if (typeof cell === 'string') return cell
  if ('text' in cell) return textOf(cell.text)
  return cell.map((piece) => (typeof piece === 'string' ? piece : Object.values(piece)[0])).join('')
}
