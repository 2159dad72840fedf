import * as query from '@shardlab/query'
import { cell, wrapped } from './markdown.js'

/** The fields of a row in the operator tables of @shardlab/query that the page reads. */
export interface OperatorEntry {
  readonly name: string
  readonly manualPage: string
  readonly status: 'complete' | 'partial'
  readonly missing?: string
  readonly lacks?: string
  readonly deviations?: readonly string[]
}

export interface OperatorFamily {
  readonly title: string
  readonly rows: Iterable<OperatorEntry>
}

/** The operator families in the order of the page. */
export function operatorFamilies(): OperatorFamily[] {
  return [
    { title: 'Aggregation stages', rows: query.stageOperators.values() },
    { title: 'Query operators', rows: [...query.rootOperators.values(), ...query.pathOperators.values()] },
    { title: 'Update operators', rows: query.updateModifiers.values() },
    { title: 'Aggregation expressions', rows: query.expressionOperators.values() },
    { title: 'Accumulators', rows: query.accumulatorOperators.values() },
    { title: 'Window functions', rows: query.windowFunctions.values() },
  ]
}

/**
 * One section for a family: the names of the complete operators, and a table of the others.
 *
 * @param link of a deviation's number to its entry
 */
export function operatorSection({ title, rows }: OperatorFamily, link: (number: string) => string): string[] {
  const sorted = [...rows].sort((a, b) => a.name.localeCompare(b.name, 'en'))
  const partial = sorted.filter((row) => row.status === 'partial')
  const complete = sorted.filter((row) => row.status === 'complete').map((row) => `\`${row.name}\``)
  const lines = [
    `## ${title}`,
    '',
    ...wrapped(`${sorted.length}, of which ${complete.length} complete: ${complete.join(', ')}.`),
    '',
  ]
  if (partial.length === 0) return lines
  return [
    ...lines,
    '| partly supported | refuses | lacks | deviations | manual |',
    '| --- | --- | --- | --- | --- |',
    ...partial.map(({ name, missing = '', lacks = '', deviations = [], manualPage }) =>
      [
        `| \`${name}\``,
        cell(missing),
        cell(lacks),
        deviations.map(link).join(' '),
        `reference/operator/${manualPage} |`,
      ].join(' | '),
    ),
    '',
  ]
}
