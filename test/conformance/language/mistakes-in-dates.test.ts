/**
 * Common mistakes in conversions and in date expressions, and the codes of the server. Server:
 * `expression.cpp`, jstests/aggregation/expressions.
 */
import { Long } from 'mongodb'
import t from 'tap'
import { runMistakes, type Mistake } from './support/language.js'

/**
 * A constant expression that must fail with this code. The document of the tests has `a: 1`,
 * `s: 'text'`, `list`, `d`.
 */
type Row = readonly [expression: object, code: number, message?: string]

const conversions: readonly Row[] = [
  [{ $convert: 1 }, 9],
  [{ $convert: { input: 1 } }, 9],
  [{ $convert: { to: 'int' } }, 9],
  [{ $convert: { input: 1, to: 'int', other: 1 } }, 9],
  [{ $convert: { input: '2.5', to: 'int' } }, 241],
  [{ $convert: { input: Long.fromNumber(922337203600), to: 'int' } }, 241],
  [{ $convert: { input: 1, to: 'noSuch' } }, 2],
  [{ $convert: { input: 1, to: 1.5 } }, 9],
  [{ $toInt: [[1]] }, 241],
  [{ $toObjectId: 'x' }, 241],
  [{ $toDate: 'Friday' }, 241],
  [{ $toInt: 1e10 }, 241],
  [{ $toInt: '1e3' }, 241],
  [{ $toDouble: '' }, 241],
  [{ $toDecimal: 'abc' }, 241],
]

const start = new Date('2020-11-01T18:23:36Z')
const dates: readonly Row[] = [
  [{ $year: 1 }, 16006],
  [{ $year: { date: start, other: 1 } }, 40535],
  [{ $year: { timezone: 'GMT' } }, 40539],
  [{ $year: { date: start, timezone: 1 } }, 40517],
  [{ $year: { date: start, timezone: 'No/Where' } }, 40485],
  [{ $dateTrunc: 'A' }, 5439007],
  [{ $dateTrunc: { endDate: 1 } }, 5439008],
  [{ $dateTrunc: { unit: 'week' } }, 5439009],
  [{ $dateTrunc: { date: start } }, 5439010],
  [{ $dateTrunc: { date: 'string', unit: 'hour' } }, 5439012],
  [{ $dateTrunc: { date: start, unit: 1 } }, 5439013],
  [{ $dateTrunc: { date: start, unit: 'century' } }, 9],
  [{ $dateTrunc: { date: start, unit: 'hour', binSize: 'x' } }, 5439017],
  [{ $dateTrunc: { date: start, unit: 'hour', binSize: 0 } }, 5439018],
  [{ $dateTrunc: { date: start, unit: 'hour', binSize: 2.5 } }, 5439017],
  [{ $dateTrunc: { date: start, unit: 'hour', timezone: 1 } }, 40517],
  [{ $dateTrunc: { date: start, unit: 'week', startOfWeek: 1 } }, 5439015],
  [{ $dateTrunc: { date: start, unit: 'week', startOfWeek: 'FRIDIE' } }, 5439016],
  [{ $dateDiff: { startDate: 'string', endDate: start, unit: 'hour' } }, 5166307],
  [{ $dateDiff: { startDate: start, endDate: 1, unit: 'hour' } }, 5166307],
  [{ $dateDiff: { startDate: start, endDate: start, unit: 5 } }, 5439013],
  [{ $dateDiff: { startDate: start, endDate: start, unit: 'decade' } }, 9],
  [{ $dateDiff: { startDate: start, endDate: start, unit: 'week', startOfWeek: 1 } }, 5439015],
  [{ $dateDiff: { startDate: start, endDate: start, unit: 'hour', timezone: 'America/Invalid' } }, 40485],
  [{ $dateDiff: 1 }, 5166301],
  [{ $dateDiff: { startDate: start, endDate: start, unit: 'hour', other: 1 } }, 5166302],
  [{ $dateDiff: { endDate: start, unit: 'hour' } }, 5166303],
  [{ $dateDiff: { startDate: start, unit: 'hour' } }, 5166304],
  [{ $dateDiff: { startDate: start, endDate: start } }, 5166305],
  [{ $dateAdd: 1 }, 5166400],
  [{ $dateAdd: { unit: 'second', amount: 120 } }, 5166402],
  [{ $dateAdd: { startDate: start, units: 'day', amount: 1 } }, 5166401],
  [{ $dateSubtract: { startDate: 'myBirthDate', unit: 'year', amount: 10 } }, 5166403],
  [{ $dateAdd: { startDate: start, unit: 1, amount: 10 } }, 5439013],
  [{ $dateAdd: { startDate: start, unit: 'epoch', amount: 10 } }, 9],
  [{ $dateSubtract: { startDate: start, unit: 'year', amount: 1.001 } }, 5166405],
  [{ $dateSubtract: { startDate: start, unit: 'year', amount: 1, timezone: 'Unknown' } }, 40485],
  [{ $dateFromParts: '$d' }, 40519],
  [{ $dateFromParts: { timezone: 'GMT' } }, 40516],
  [{ $dateFromParts: { year: false } }, 40515],
  [{ $dateFromParts: { year: 2012, timezone: 'DoesNot/Exist' } }, 40485],
  [{ $dateFromParts: { year: 2012, timezone: 5 } }, 40517],
  [{ $dateFromParts: { year: 10000 } }, 40523],
  [{ $dateFromParts: { year: 2017, isoWeekYear: 2017 } }, 40489],
  [{ $dateFromParts: { year: 2017, other: 1 } }, 40518],
  [{ $dateFromString: 1 }, 40540],
  [{ $dateFromString: { dateString: 'x', other: 1 } }, 40541],
  [{ $dateFromString: { timezone: 'GMT' } }, 40542],
  [{ $dateFromString: { dateString: 'x' } }, 241],
  [{ $dateFromString: { dateString: 1 } }, 241],
  [{ $dateFromString: { dateString: '2017-02-08Z', timezone: 'GMT' } }, 241],
  [{ $dateToString: 1 }, 18629],
  [{ $dateToString: { date: start, other: 1 } }, 18534],
  [{ $dateToString: { format: '%Y' } }, 18628],
  [{ $dateToString: { date: start, format: 1 } }, 18533],
  [{ $dateToString: { date: start, format: '%x' } }, 18536],
  [{ $dateToString: { date: start, format: '%' } }, 18535],
  [{ $dateToParts: 1 }, 40524],
  [{ $dateToParts: { date: start, other: 1 } }, 40520],
  [{ $dateToParts: { timezone: 'GMT' } }, 40522],
  [{ $dateToParts: { date: start, iso8601: 1 } }, 40521],
]

for (const [family, rows] of Object.entries({ conversions, dates }))
  t.test(`mistakes in ${family} give the codes of the server`, (t) =>
    runMistakes(
      t,
      rows.map(([expression, code, message]): Mistake => ({
        name: JSON.stringify(expression),
        aggregate: [{ $project: { x: expression } }],
        code,
        ...(message === undefined ? {} : { message }),
      })),
    ),
  )
