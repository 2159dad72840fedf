import { Binary, Decimal128, Long, ObjectId } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { evaluate, failure, json } from '../support/helpers.js'

const v = (value: unknown) => json({ v: value })
const date = (text: string) => new Date(text)
const decimal = (text: string) => Decimal128.fromString(text)
const long = (value: number) => Long.fromNumber(value)

type Row = [expression: unknown, expected: unknown]
type Failure = [expression: unknown, code: number, message?: string]

function check(t: Test, rows: Row[], failures: Failure[]): void {
  for (const [expression, expected] of rows) t.equal(evaluate(expression), v(expected), JSON.stringify(expression))
  for (const [expression, code, message] of failures) {
    const error = failure(() => evaluate(expression))
    t.equal(error?.code ?? 0, code, JSON.stringify(expression))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
}

t.test('string operators give the values of the server', (t) =>
  check(
    t,
    [
      [{ $substrCP: ['añb', 1, 2] }, 'ñb'],
      [{ $substrBytes: ['añb', 1, 2] }, 'ñ'],
      [{ $substrBytes: ['abc', 1, -1] }, 'bc'],
      [{ $substrBytes: [null, 0, 1] }, ''],
      [{ $substrCP: [123, 0, 2] }, '12'],
      [{ $indexOfBytes: ['cañol', 'o'] }, 4],
      [{ $indexOfCP: ['cañol', 'o'] }, 3],
      [{ $indexOfCP: ['abab', 'b', 2] }, 3],
      [{ $indexOfCP: ['abab', 'b', 2, 3] }, -1],
      [{ $indexOfCP: [null, 'b'] }, null],
      [{ $split: ['a-b-', '-'] }, ['a', 'b', '']],
      [{ $split: [null, '-'] }, null],
      [{ $strcasecmp: ['ABC', 'abd'] }, -1],
      [{ $strcasecmp: ['Ä', 'ä'] }, -1],
      [{ $trim: { input: ' \t a b \n' } }, 'a b'],
      [{ $ltrim: { input: 'xxaxx', chars: 'x' } }, 'axx'],
      [{ $rtrim: { input: 'xxaxx', chars: 'x' } }, 'xxa'],
      [{ $trim: { input: 'a', chars: null } }, null],
      [{ $replaceOne: { input: 'aba', find: 'a', replacement: 'x$&' } }, 'x$&ba'],
      [{ $replaceAll: { input: 'aba', find: 'a', replacement: 'x' } }, 'xbx'],
      [{ $replaceAll: { input: null, find: 'a', replacement: 'x' } }, null],
      [{ $regexMatch: { input: 'Abc', regex: /^a/i } }, true],
      [{ $regexMatch: { input: 'abc', regex: 'B', options: 'i' } }, true],
      [{ $regexMatch: { input: null, regex: 'B' } }, false],
      [{ $regexFind: { input: 'añxb', regex: '(x)(y)?' } }, { match: 'x', idx: 2, captures: ['x', null] }],
      [{ $regexFind: { input: 'a', regex: 'z' } }, null],
      [{ $regexFindAll: { input: 'abab', regex: 'b' } }, [1, 3].map((idx) => ({ match: 'b', idx, captures: [] }))],
    ],
    [
      [{ $substrBytes: ['ñ', 1, 1] }, 28656],
      [{ $substrBytes: ['ñ', 0, 1] }, 28657],
      [{ $substrCP: ['a', -1, 1] }, 34455],
      [{ $indexOfCP: [1, 'a'] }, 40093, '$indexOfCP requires a string as the first argument, found: int'],
      [{ $indexOfBytes: ['a', 'a', -1] }, 40097],
      [{ $split: ['a', ''] }, 40087, '$split requires a non-empty separator'],
      [{ $trim: { chars: 'x' } }, 50695],
      [{ $trim: { input: 'a', foo: 1 } }, 50694],
      [
        { $replaceOne: { input: 1, find: 'a', replacement: 'b' } },
        51746,
        "$replaceOne requires that 'input' be a string, found: 1",
      ],
      [{ $replaceAll: { input: 'a', find: 'a', replacement: 1 } }, 51744],
      [{ $regexMatch: { input: 1, regex: 'a' } }, 51104],
      [{ $regexMatch: { input: 'a', regex: /a/i, options: 'i' } }, 51107],
      [{ $regexMatch: { input: 'a', regex: '(' } }, 51111],
    ],
  ),
)

t.test('array and set operators give the values of the server', (t) =>
  check(
    t,
    [
      [{ $slice: [[1, 2, 3], 2] }, [1, 2]],
      [{ $slice: [[1, 2, 3], -2] }, [2, 3]],
      [{ $slice: [[1, 2, 3], 1, 1] }, [2]],
      [{ $slice: [[1, 2, 3], -5, 2] }, [1, 2]],
      [{ $reverseArray: [[1, 2]] }, [2, 1]],
      [{ $range: [0, 5, 2] }, [0, 2, 4]],
      [{ $range: [3, 0, -1] }, [3, 2, 1]],
      [{ $range: [0, 3, -1] }, []],
      [{ $zip: { inputs: [[1, 2], ['a']] } }, [[1, 'a']]],
      [
        { $zip: { inputs: [[1, 2], ['a']], useLongestLength: true, defaults: [0, 'z'] } },
        [
          [1, 'a'],
          [2, 'z'],
        ],
      ],
      [{ $indexOfArray: [[1, 2, 1], 1, 1] }, 2],
      [{ $indexOfArray: [[1], 5] }, -1],
      [{ $sortArray: { input: [3, 'a', 1], sortBy: 1 } }, [1, 3, 'a']],
      [{ $sortArray: { input: [{ a: 1 }, { a: 2 }], sortBy: { a: -1 } } }, [{ a: 2 }, { a: 1 }]],
      [
        {
          $arrayToObject: {
            $literal: [
              ['a', 1],
              ['b', 2],
              ['a', 3],
            ],
          },
        },
        { a: 3, b: 2 },
      ],
      [{ $arrayToObject: [[{ k: 'a', v: 1 }]] }, { a: 1 }],
      [{ $firstN: { n: 2, input: [1, 2, 3] } }, [1, 2]],
      [{ $lastN: { n: 2, input: [1, 2, 3] } }, [2, 3]],
      [{ $maxN: { n: 2, input: [1, null, 3, 2] } }, [3, 2]],
      [{ $minN: { n: 5, input: [3, null, 1] } }, [1, 3]],
      [{ $max: [[1, 3, 2]] }, 3],
      [{ $sum: [1, [5], 2] }, 3],
      [{ $avg: [[1, 2]] }, 1.5],
      [
        {
          $setUnion: [
            [2, 1],
            [long(1), 3],
          ],
        },
        [1, 2, 3],
      ],
      [
        {
          $setIntersection: [
            [3, 1, 2, 2],
            [2, 3],
          ],
        },
        [2, 3],
      ],
      [{ $setDifference: [[3, 1, 3, 2], [1]] }, [3, 2]],
      [
        {
          $setEquals: [
            [1, 2, 1],
            [2, 1],
          ],
        },
        true,
      ],
      [{ $setIsSubset: [[1], [1, 2]] }, true],
      [{ $anyElementTrue: [[0, null, 'x']] }, true],
      [{ $allElementsTrue: [[]] }, true],
      [{ $setUnion: [[1], null] }, null],
    ],
    [
      [{ $slice: [1, 1] }, 28724, 'First argument to $slice must be an array, but is of type: int'],
      [{ $slice: [[1], 0, 0] }, 28729],
      [{ $range: [0, 5, 0] }, 34449, '$range requires a non-zero step value'],
      [{ $range: [0.5, 5] }, 34444],
      [{ $zip: { inputs: [1] } }, 34468],
      [{ $zip: { inputs: [[1]], defaults: [1] } }, 34466],
      [{ $arrayToObject: [[['a', 1], { k: 'a', v: 1 }]] }, 40396],
      [{ $arrayToObject: [[{ k: 'a', x: 1 }]] }, 40393],
      [{ $firstN: { n: 0, input: [1] } }, 5787908, "'n' must be greater than 0, found 0"],
      [{ $firstN: { n: 1, input: 1 } }, 5788200, 'Input must be an array'],
      [{ $setUnion: [1] }, 17043],
      [{ $setEquals: [[1]] }, 17045],
      [{ $setDifference: [[1], 1] }, 17049],
      [{ $anyElementTrue: [1] }, 17041],
    ],
  ),
)

t.test('conversions give the values of the server', (t) =>
  check(
    t,
    [
      [{ $toInt: '12' }, 12],
      [{ $toInt: 2.9 }, 2],
      [{ $toInt: null }, null],
      [{ $toLong: true }, long(1)],
      [{ $toLong: date('1970-01-01T00:00:01Z') }, long(1000)],
      [{ $toDouble: '-1.5e1' }, -15],
      [{ $toDecimal: '1.50' }, decimal('1.50')],
      [{ $toBool: 'false' }, true],
      [{ $toBool: 0 }, false],
      [{ $toDate: long(5) }, new Date(5)],
      [{ $toDate: '2020-02-03' }, date('2020-02-03T00:00:00Z')],
      [{ $toDate: new ObjectId('5ab9c3da31c2ab715d421285') }, date('2018-03-27T04:08:58Z')],
      [{ $toObjectId: '5ab9c3da31c2ab715d421285' }, new ObjectId('5ab9c3da31c2ab715d421285')],
      [{ $convert: { input: 'x', to: 'int', onError: 'bad' } }, 'bad'],
      [{ $convert: { input: null, to: 'int', onNull: 7 } }, 7],
      [{ $convert: { input: 1.5, to: 16 } }, 1],
      [{ $convert: { input: 1, to: null } }, null],
    ],
    [
      [
        { $toInt: 'x' },
        241,
        "Failed to parse number 'x' in $convert with no onError value: Did not consume whole string.",
      ],
      [{ $toInt: 3e9 }, 241],
      [{ $toInt: Number.NaN }, 241, 'Attempt to convert NaN value to integer type in $convert with no onError value'],
      [{ $toInt: [[1]] }, 241, 'Unsupported conversion from array to int in $convert with no onError value'],
      [{ $toDate: 5 }, 241],
      [{ $toObjectId: 'ab' }, 241],
      [{ $convert: { input: 1, to: 'nope' } }, 2, 'Unknown type name: nope'],
      [{ $convert: { input: 1 } }, 9, "Missing 'to' parameter to $convert"],
    ],
  ),
)

t.test('number operators give the values of the server', (t) =>
  check(
    t,
    [
      [{ $pow: [2, 10] }, 1024],
      [{ $pow: [2, 31] }, long(2 ** 31)],
      [{ $pow: [2, 64] }, 2 ** 64],
      [{ $pow: [2, -1] }, 0.5],
      [{ $pow: [-1, -3] }, -1],
      [{ $sqrt: 16 }, 4],
      [{ $ln: 1 }, 0],
      [{ $log: [8, 2] }, 3],
      [{ $log10: 1000 }, 3],
      [{ $ceil: -1.5 }, -1],
      [{ $ceil: decimal('1.2') }, decimal('2')],
      [{ $floor: decimal('-1.2') }, decimal('-2')],
      [{ $round: [2.5] }, 2],
      [{ $round: [19.25, 1] }, 19.2],
      [{ $round: [28.73, -1] }, 30],
      [{ $round: [-25, -1] }, -20],
      [{ $round: [decimal('3.15'), 1] }, decimal('3.2')],
      [{ $trunc: [-2.79, 1] }, -2.7],
      [{ $trunc: 1.9 }, 1],
      [{ $sin: 0 }, 0],
      [{ $atan2: [0, 1] }, 0],
      [{ $sqrt: null }, null],
    ],
    [
      [{ $sqrt: -1 }, 28714],
      [{ $sqrt: 'x' }, 28765, '$sqrt only supports numeric types, not string'],
      [{ $pow: [0, -1] }, 28764],
      [{ $ln: 0 }, 28766, "$ln's argument must be a positive number, but is 0"],
      [{ $log: [1, 1] }, 28759],
      [{ $round: [1, 200] }, 51083],
      [{ $round: ['x'] }, 51081],
      [{ $acos: 2 }, 50989, 'cannot apply $acos to 2, value must be in [-1,1]'],
    ],
  ),
)

t.test('field operators give the values of the server', (t) =>
  check(
    t,
    [
      [{ $getField: { field: 'a.b', input: { $literal: { 'a.b': 1 } } } }, 1],
      [{ $setField: { field: 'b', input: { a: 1, b: 2 }, value: 3 } }, { a: 1, b: 3 }],
      [{ $unsetField: { field: 'a', input: { a: 1, b: 2 } } }, { b: 2 }],
      [{ $setField: { field: 'a', input: { a: 1, b: 2 }, value: '$$REMOVE' } }, { b: 2 }],
      [{ $setField: { field: 'a', input: null, value: 1 } }, null],
      [{ $binarySize: 'añ' }, 3],
      [{ $binarySize: new Binary(Buffer.from('abc')) }, 3],
    ],
    [
      [{ $getField: { field: 'a' } }, 3041703],
      [{ $setField: { field: { a: 1 }, input: {}, value: 1 } }, 4161106],
      [{ $setField: { field: { $concat: ['a', 'b'] }, input: {}, value: 1 } }, 4161106],
      [{ $setField: { field: { $literal: 1 }, input: {}, value: 1 } }, 4161107],
      [
        { $setField: { field: 'a', input: 1, value: 1 } },
        4161105,
        "$setField requires 'input' to evaluate to type Object",
      ],
      [{ $binarySize: 1 }, 51276, '$binarySize requires a string or BinData argument, found: int'],
    ],
  ),
)

const noon = date('2021-03-14T09:05:06.007Z')

t.test('date operators give the values of the server', (t) =>
  check(
    t,
    [
      [{ $year: noon }, 2021],
      [{ $month: [noon] }, 3],
      [{ $dayOfMonth: noon }, 14],
      [{ $hour: { date: noon, timezone: '+05:30' } }, 14],
      [{ $minute: { date: noon, timezone: '+0530' } }, 35],
      [{ $hour: { date: noon, timezone: 'America/New_York' } }, 5],
      [{ $millisecond: noon }, 7],
      [{ $dayOfWeek: noon }, 1],
      [{ $isoDayOfWeek: noon }, 7],
      [{ $dayOfYear: noon }, 73],
      [{ $week: noon }, 11],
      [{ $isoWeek: noon }, 10],
      [{ $isoWeekYear: date('2021-01-01T00:00:00Z') }, long(2020)],
      [{ $year: null }, null],
      [{ $dateToString: { date: noon } }, '2021-03-14T09:05:06.007Z'],
      [{ $dateToString: { date: noon, timezone: 'Europe/Berlin' } }, '2021-03-14T10:05:06.007'],
      [
        {
          $dateToString: {
            date: noon,
            format: '%d.%m.%Y %j %w %u %U %V %G %H:%M:%S.%L %z %Z %% %b %B',
            timezone: '-0430',
          },
        },
        '14.03.2021 073 1 7 11 10 2021 04:35:06.007 -0430 -270 % Mar March',
      ],
      [{ $dateToString: { date: null, onNull: 'none' } }, 'none'],
      [{ $dateToString: { date: noon, format: '%Z', timezone: '+04:30' } }, '270'],
      [{ $dateToString: { date: noon, format: '%Z' } }, '0'],
      [{ $dateFromString: { dateString: '2021-03-14T09:05:06.007Z' } }, noon],
      [
        { $dateFromString: { dateString: '2021-03-14T10:00', timezone: 'Europe/Berlin' } },
        date('2021-03-14T09:00:00Z'),
      ],
      [{ $dateFromString: { dateString: '14/3/2021', format: '%d/%m/%Y' } }, date('2021-03-14T00:00:00Z')],
      [{ $dateFromString: { dateString: 'x', onError: 'bad' } }, 'bad'],
      [
        { $dateToParts: { date: noon } },
        { year: 2021, month: 3, day: 14, hour: 9, minute: 5, second: 6, millisecond: 7 },
      ],
      [
        { $dateToParts: { date: noon, iso8601: true } },
        { isoWeekYear: 2021, isoWeek: 10, isoDayOfWeek: 7, hour: 9, minute: 5, second: 6, millisecond: 7 },
      ],
      [{ $dateFromParts: { year: 2021, month: 14, day: 0 } }, date('2022-01-31T00:00:00Z')],
      [{ $dateFromParts: { isoWeekYear: 2021, isoWeek: 10, isoDayOfWeek: 7 } }, date('2021-03-14T00:00:00Z')],
      [
        { $dateAdd: { startDate: date('2021-01-31T00:00:00Z'), unit: 'month', amount: 1 } },
        date('2021-02-28T00:00:00Z'),
      ],
      [
        // The night in which summer time begins is an hour shorter.
        { $dateAdd: { startDate: date('2021-03-13T17:00:00Z'), unit: 'day', amount: 1, timezone: 'America/New_York' } },
        date('2021-03-14T16:00:00Z'),
      ],
      [{ $dateSubtract: { startDate: noon, unit: 'minute', amount: 5 } }, date('2021-03-14T09:00:06.007Z')],
      [
        { $dateDiff: { startDate: date('2020-12-31T23:59:59Z'), endDate: date('2021-01-01T00:00:00Z'), unit: 'year' } },
        long(1),
      ],
      [{ $dateDiff: { startDate: date('2021-03-13T00:00:00Z'), endDate: noon, unit: 'week' } }, long(1)],
      [
        { $dateDiff: { startDate: date('2021-03-13T00:00:00Z'), endDate: noon, unit: 'week', startOfWeek: 'monday' } },
        long(0),
      ],
      [{ $dateTrunc: { date: noon, unit: 'hour' } }, date('2021-03-14T09:00:00Z')],
      [{ $dateTrunc: { date: noon, unit: 'month', binSize: 6 } }, date('2021-01-01T00:00:00Z')],
      [{ $dateTrunc: { date: noon, unit: 'week', startOfWeek: 'mon' } }, date('2021-03-08T00:00:00Z')],
      [{ $dateTrunc: { date: noon, unit: 'day', timezone: 'America/New_York' } }, date('2021-03-14T05:00:00Z')],
    ],
    [
      [{ $year: 'x' }, 16006, "can't convert from BSON type string to Date"],
      [{ $year: { date: noon, timezone: 'Mars/Olympus' } }, 40485, 'unrecognized time zone identifier: "Mars/Olympus"'],
      [{ $year: { date: noon, foo: 1 } }, 40535, 'unrecognized option to $year: "foo"'],
      [{ $dateToString: { format: '%Y' } }, 18628],
      [{ $dateTrunc: { date: 'x', unit: 'day' } }, 5439012, "$dateTrunc requires 'date' to be a date, but got string"],
      [{ $dateToString: { date: noon, format: '%q' } }, 18536, "Invalid format character '%q' in format string"],
      [{ $dateToString: { date: noon, format: '%' } }, 18535],
      [{ $dateFromString: { dateString: 'nonsense' } }, 241],
      [{ $dateFromParts: { month: 1 } }, 40516],
      [{ $dateFromParts: { year: 0 } }, 40523],
      [{ $dateAdd: { startDate: noon, unit: 'day' } }, 5166402],
      [
        { $dateAdd: { startDate: noon, unit: 'eon', amount: 1 } },
        9,
        "$dateAdd parameter 'unit' value parsing failed :: caused by :: unknown time unit value: eon",
      ],
      [{ $dateTrunc: { date: noon, unit: 'day', binSize: 0 } }, 5439018],
    ],
  ),
)
