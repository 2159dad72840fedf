/**
 * Expressions over dates, with the manual's tables and the server's own tests of time zones, ends
 * of months and parts out of range.
 */
import { Long, ObjectId, Timestamp } from 'mongodb'
import t from 'tap'
import { runExamples, runExpressions, type Example, type ExpressionRow } from './support/language.js'

const long = (value: number | string): Long => Long.fromString(String(value))
const day = (text: string): Date => new Date(text)

const parts: readonly ExpressionRow[] = [
  [{ $year: day('2014-01-01T08:15:39.736Z') }, 2014],
  [{ $month: day('2014-01-01T08:15:39.736Z') }, 1],
  [{ $dayOfMonth: day('2014-01-01T08:15:39.736Z') }, 1],
  [{ $dayOfYear: day('2014-01-01T08:15:39.736Z') }, 1],
  [{ $dayOfWeek: day('2014-01-01T08:15:39.736Z') }, 4],
  [{ $week: day('2014-01-01T08:15:39.736Z') }, 0],
  [{ $hour: day('2014-01-01T08:15:39.736Z') }, 8],
  [{ $minute: day('2014-01-01T08:15:39.736Z') }, 15],
  [{ $second: day('2014-01-01T08:15:39.736Z') }, 39],
  [{ $millisecond: day('2014-01-01T08:15:39.736Z') }, 736],
  [{ $isoDayOfWeek: day('2014-01-01T08:15:39.736Z') }, 3],
  [{ $isoWeek: day('2016-01-04') }, 1],
  [{ $isoWeek: { date: day('2016-01-01') } }, 53],
  [{ $isoWeek: { date: day('1998-11-02T00:00:00Z'), timezone: '-0500' } }, 44],
  [{ $isoWeekYear: { date: day('2015-05-26') } }, long(2015)],
  [{ $isoWeekYear: { date: day('2016-01-01') } }, long(2015)],
  [{ $dayOfMonth: { date: day('1998-11-07T00:00:00Z'), timezone: '-0400' } }, 6],
  [{ $dayOfWeek: { date: day('2011-08-14'), timezone: 'America/Chicago' } }, 7],
  [{ $dayOfYear: { date: day('1998-11-07T00:00:00Z'), timezone: '-0400' } }, 310],
  [{ $hour: { date: day('1998-11-07T00:00:00Z'), timezone: '-0500' } }, 19],
  [{ $minute: { date: day('1998-11-07T00:00:00Z'), timezone: '+0530' } }, 30],
  [{ $month: { date: day('1998-11-01T00:00:00Z'), timezone: '-0400' } }, 10],
  [{ $week: { date: day('1998-11-02T00:00:00Z'), timezone: '-0500' } }, 44],
  [{ $year: { date: day('2017-01-01T00:00:00Z'), timezone: '-0500' } }, 2016],
  [{ $year: [day('2017-01-01')] }, 2017],
  [{ $year: '$nothing' }, null],
  [{ $year: new ObjectId('507c7f79bcf86cd7994f6c0e') }, 2012],
  [{ $second: new Timestamp({ t: 1350336377, i: 0 }) }, 17],
  [
    { $dateToParts: { date: day('2017-01-01T01:29:09.123Z') } },
    { year: 2017, month: 1, day: 1, hour: 1, minute: 29, second: 9, millisecond: 123 },
  ],
  [
    { $dateToParts: { date: day('2017-01-01T01:29:09.123Z'), iso8601: true } },
    { isoWeekYear: 2016, isoWeek: 52, isoDayOfWeek: 7, hour: 1, minute: 29, second: 9, millisecond: 123 },
  ],
  [
    { $dateToParts: { date: day('2017-01-01T01:29:09.123Z'), timezone: 'America/New_York' } },
    { year: 2016, month: 12, day: 31, hour: 20, minute: 29, second: 9, millisecond: 123 },
  ],
  [{ $tsSecond: new Timestamp({ t: 1622731060, i: 1 }) }, long(1622731060)],
  [{ $tsIncrement: new Timestamp({ t: 1622731060, i: 7 }) }, long(7)],
]

const fromParts = (given: object, gives: string): ExpressionRow => [{ $dateFromParts: given }, day(gives)]

const constructions: readonly ExpressionRow[] = [
  fromParts({ year: 2017, month: 14, day: 1, hour: 12 }, '2018-02-01T12:00:00Z'),
  fromParts({ year: 2017, month: 0, day: 1, hour: 12 }, '2016-12-01T12:00:00Z'),
  fromParts({ year: 2017, month: 2, day: 8, hour: 12 }, '2017-02-08T12:00:00Z'),
  fromParts({ isoWeekYear: 2017, isoWeek: 6, isoDayOfWeek: 3, hour: 12 }, '2017-02-08T12:00:00Z'),
  fromParts(
    { year: 2016, month: 12, day: 31, hour: 23, minute: 46, second: 12, timezone: 'America/New_York' },
    '2017-01-01T04:46:12Z',
  ),
  fromParts(
    { timezone: 'Europe/Berlin', year: 2017, month: 6, day: 23, hour: 14, minute: 27, second: 37, millisecond: 742 },
    '2017-06-23T12:27:37.742Z',
  ),
  fromParts({ timezone: '+04:15', year: 2017, month: 6, day: 23, hour: 16, minute: 42 }, '2017-06-23T12:27:00Z'),
  fromParts({ timezone: '-02', year: 2017, month: 6, day: 23, hour: 10 }, '2017-06-23T12:00:00Z'),
  fromParts({ year: 1 }, '0001-01-01T00:00:00Z'),
  fromParts({ year: 9999 }, '9999-01-01T00:00:00Z'),
  fromParts({ year: 2017, month: -1 }, '2016-11-01T00:00:00Z'),
  fromParts({ year: 2017, day: -1 }, '2016-12-30T00:00:00Z'),
  fromParts({ year: 2017, day: 61 }, '2017-03-02T00:00:00Z'),
  fromParts({ year: 2017, hour: 25 }, '2017-01-02T01:00:00Z'),
  fromParts({ year: 2017, minute: -1 }, '2016-12-31T23:59:00Z'),
  fromParts({ year: 2017, second: 71841012 }, '2019-04-12T11:50:12Z'),
  fromParts({ year: 1970, second: 1502095918 }, '2017-08-07T08:51:58Z'),
  fromParts({ year: 2017, millisecond: -1 }, '2016-12-31T23:59:59.999Z'),
  fromParts({ year: 1970, millisecond: long('1502095918551') }, '2017-08-07T08:51:58.551Z'),
  [{ $dateFromParts: { year: 2017, month: '$nothing' } }, null],
  [{ $dateFromParts: { year: 2017, timezone: '$nothing' } }, null],
  [{ $dateFromString: { dateString: '2017-02-08T12:10:40.787' } }, day('2017-02-08T12:10:40.787Z')],
  [
    { $dateFromString: { dateString: '2017-02-08T12:10:40.787', timezone: 'America/New_York' } },
    day('2017-02-08T17:10:40.787Z'),
  ],
  [{ $dateFromString: { dateString: '2017-02-08' } }, day('2017-02-08T00:00:00Z')],
  [{ $dateFromString: { dateString: '06-15-2018', format: '%m-%d-%Y' } }, day('2018-06-15T00:00:00Z')],
  [{ $dateFromString: { dateString: '15-06-2018', format: '%d-%m-%Y' } }, day('2018-06-15T00:00:00Z')],
  [{ $dateFromString: { dateString: '20177-02-09T03:35:02.055', onError: 'as it was' } }, 'as it was'],
  [{ $dateFromString: { dateString: null, onNull: day('1970-01-01') } }, day('1970-01-01')],
  [{ $dateToString: { format: '%Y-%m-%d', date: day('2014-01-01T08:15:39.736Z') } }, '2014-01-01'],
  [
    { $dateToString: { format: '%H:%M:%S:%L%z', date: day('2014-01-01T08:15:39.736Z'), timezone: 'America/New_York' } },
    '03:15:39:736-0500',
  ],
  [
    { $dateToString: { format: '%H:%M:%S:%L%z', date: day('2014-01-01T08:15:39.736Z'), timezone: '+04:30' } },
    '12:45:39:736+0430',
  ],
  [{ $dateToString: { format: '%Z', date: day('2014-01-01T08:15:39.736Z'), timezone: 'America/New_York' } }, '-300'],
  [{ $dateToString: { format: '%Z', date: day('2014-01-01T08:15:39.736Z'), timezone: '+04:30' } }, '270'],
  [{ $dateToString: { date: day('2014-01-01T08:15:39.736Z') } }, '2014-01-01T08:15:39.736Z'],
  [
    { $dateToString: { date: day('2014-01-01T08:15:39.736Z'), timezone: 'America/New_York' } },
    '2014-01-01T03:15:39.736',
  ],
  [{ $dateToString: { date: '$nothing', onNull: 'none' } }, 'none'],
]

const add = (startDate: string, unit: string, amount: number, gives: string, timezone?: string): ExpressionRow => [
  { $dateAdd: { startDate: day(startDate), unit, amount, ...(timezone === undefined ? {} : { timezone }) } },
  day(gives),
]
const subtract = (startDate: string, unit: string, amount: number, gives: string, timezone?: string): ExpressionRow => [
  { $dateSubtract: { startDate: day(startDate), unit, amount, ...(timezone === undefined ? {} : { timezone }) } },
  day(gives),
]
const diff = (startDate: unknown, endDate: unknown, unit: string, gives: number, more = {}): ExpressionRow => [
  { $dateDiff: { startDate, endDate, unit, ...more } },
  long(gives),
]
const trunc = (date: unknown, unit: string, gives: string, more = {}): ExpressionRow => [
  { $dateTrunc: { date, unit, ...more } },
  day(gives),
]

const arithmetic: readonly ExpressionRow[] = [
  add('2020-11-30T12:10:05Z', 'day', 1, '2020-12-01T12:10:05Z'),
  add('2020-10-24T18:10:00Z', 'hour', 24, '2020-10-25T18:10:00Z', 'Europe/Paris'),
  add('2020-10-24T18:10:00Z', 'day', 1, '2020-10-25T19:10:00Z', 'Europe/Paris'),
  add('2021-01-30T23:30:00Z', 'month', 1, '2021-02-27T23:30:00Z', 'Europe/Paris'),
  add('2020-12-31T12:10:05Z', 'week', 1, '2021-01-07T12:10:05Z'),
  add('2020-12-31T12:10:05Z', 'millisecond', 1050, '2020-12-31T12:10:06.050Z'),
  add('2020-12-31T12:10:05Z', 'month', 1, '2021-01-31T12:10:05Z'),
  add('2020-12-31T12:10:05Z', 'hour', 2, '2020-12-31T14:10:05Z', 'Europe/Paris'),
  [{ $dateAdd: { startDate: '$nothing', unit: 'day', amount: 1 } }, null],
  subtract('2020-12-31T12:10:05Z', 'year', 1, '2019-12-31T12:10:05Z'),
  subtract('2020-12-31T12:10:05Z', 'quarter', 2, '2020-06-30T12:10:05Z'),
  subtract('2020-12-31T12:10:05Z', 'month', 3, '2020-09-30T11:10:05Z', 'Europe/Paris'),
  subtract('2020-12-31T12:10:05Z', 'second', 125, '2020-12-31T12:08:00Z'),
  subtract('2021-01-31T03:00:00Z', 'month', 2, '2020-11-30T03:00:00Z'),
  subtract('2021-01-31T03:00:00Z', 'month', 2, '2020-12-01T03:00:00Z', 'America/New_York'),
  diff(day('2020-11-01T18:23:36Z'), day('2020-11-02T00:00:00Z'), 'hour', 6),
  diff(day('2020-11-01T18:23:36Z'), day('2020-11-02T00:00:00Z'), 'hour', 6, { timezone: 'America/New_York' }),
  diff(day('2010-01-01'), day('2011-01-01'), 'year', 1),
  diff(day('2010-01-01'), day('2011-07-01'), 'month', 18),
  diff(day('2010-01-01'), day('2011-07-01'), 'day', 546),
  diff(day('2010-03-01'), day('2010-04-30'), 'month', 1),
  diff(day('2010-03-01'), day('2010-04-30'), 'day', 60),
  diff(day('2021-01-01'), day('2021-01-31'), 'week', 5),
  diff(day('2021-01-01'), day('2021-01-31'), 'week', 4, { startOfWeek: 'Monday' }),
  diff(day('2021-01-01'), day('2021-01-31'), 'week', 4, { startOfWeek: 'fri' }),
  diff(day('2021-02-01'), day('2021-02-28'), 'week', 3, { startOfWeek: 'Monday' }),
  diff(day('2021-03-01'), day('2021-03-31'), 'week', 4),
  diff(day('2021-01-24T18:23:36Z'), day('2021-01-25T02:23:36Z'), 'week', 1, { timezone: 'GMT', startOfWeek: 'MONDAY' }),
  diff(day('2021-01-17T05:00:00Z'), day('2021-01-17T04:59:00Z'), 'week', -1, {
    timezone: 'America/New_York',
    startOfWeek: 'sunday',
  }),
  diff(day('2020-11-01'), day('2020-11-01'), 'hour', 0, { timezone: 'GMT', startOfWeek: 1 }),
  [{ $dateDiff: { startDate: null, endDate: 1, unit: 'century', timezone: 'INVALID' } }, null],
  [{ $dateDiff: { startDate: day('2020-11-01'), endDate: day('2020-11-01'), unit: 'week', startOfWeek: null } }, null],
  trunc(day('2020-11-01T18:23:36Z'), 'hour', '2020-11-01T18:00:00Z', { binSize: 2 }),
  trunc(day('2021-12-01T18:23:36Z'), 'hour', '2021-12-01T17:00:00Z', {
    binSize: 4,
    timezone: 'America/New_York',
    startOfWeek: 'IGNORED',
  }),
  trunc(day('2021-02-15T18:23:36Z'), 'week', '2021-02-14T00:00:00Z'),
  trunc(day('2000-01-30T18:00:00Z'), 'week', '2000-01-17T05:00:00Z', {
    binSize: 2,
    timezone: 'America/New_York',
    startOfWeek: 'mon',
  }),
  trunc(new ObjectId('507c7f79bcf86cd7994f6c0e'), 'minute', '2012-10-15T21:20:00Z', { binSize: 10 }),
  trunc(new Timestamp({ t: 1350336377, i: 0 }), 'second', '2012-10-15T21:26:10Z', { binSize: 10 }),
  trunc(day('2020-01-30T18:59:00.003Z'), 'millisecond', '2020-01-30T18:59:00Z', { binSize: 1000 }),
  trunc(day('2020-01-30T18:59:00Z'), 'year', '2020-01-01T00:00:00Z', { timezone: 'GMT', startOfWeek: 1 }),
  trunc(day('2021-03-20T11:30:05Z'), 'quarter', '2021-01-01T00:00:00Z'),
  trunc(day('2021-03-20T11:30:05Z'), 'day', '2021-03-20T00:00:00Z'),
  [{ $dateTrunc: { date: '$nothing', unit: 'H', binSize: 'string', timezone: 1 } }, null],
  [{ $dateTrunc: { date: day('2020-11-01'), unit: 'hour', binSize: null } }, null],
]

const overDocuments: readonly Example[] = [
  {
    name: '$dateFromString with a zone from the document',
    documents: [
      { _id: 1, date: '2017-02-08T12:10:40.787', timezone: 'America/New_York' },
      { _id: 2, date: '2017-02-08', timezone: '-05:00' },
      { _id: 3 },
      { _id: 4, date: '2017-02-09', timezone: 'Europe/London' },
      { _id: 5, date: '2017-02-09T03:35:02.055', timezone: '+0530' },
    ],
    aggregate: [{ $project: { date: { $dateFromString: { dateString: '$date', timezone: '$timezone' } } } }],
    gives: [
      { _id: 1, date: day('2017-02-08T17:10:40.787Z') },
      { _id: 2, date: day('2017-02-08T05:00:00Z') },
      { _id: 3, date: null },
      { _id: 4, date: day('2017-02-09T00:00:00Z') },
      { _id: 5, date: day('2017-02-08T22:05:02.055Z') },
    ],
  },
  {
    name: 'an average of $dateDiff',
    documents: [
      { purchased: day('2020-12-31'), delivered: day('2021-01-05') },
      { purchased: day('2021-02-28'), delivered: day('2021-03-07') },
      { purchased: day('2021-02-16'), delivered: day('2021-02-18') },
    ],
    aggregate: [
      {
        $group: {
          _id: null,
          average: { $avg: { $dateDiff: { startDate: '$purchased', endDate: '$delivered', unit: 'day' } } },
        },
      },
      { $project: { _id: 0, numDays: { $trunc: ['$average', 1] } } },
    ],
    gives: [{ numDays: 4.6 }],
  },
]

for (const [family, rows] of Object.entries({ parts, constructions, arithmetic }))
  t.test(`expressions of ${family} give the values of the manual`, (t) => runExpressions(t, rows))
t.test('date expressions over documents give the documents of the manual', (t) => runExamples(t, overDocuments))
