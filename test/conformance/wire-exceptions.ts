/**
 * Tests for old servers that cannot run because hello announces wire version 9, below which the
 * driver does not connect. They apply only to servers that announce more than their own version.
 */
import type { Exception } from './exception.js'

interface Refused {
  readonly file: string
  readonly option: string
  /** Below it, a driver refuses the option before it sends anything. */
  readonly wireVersion: number
  readonly tests: readonly string[]
}

/** @param since the first server to which drivers send hints of such writes unacknowledged */
function unacknowledgedHint(write: string, since: '4.2' | '4.4'): Refused {
  const operation = write.replace('bulkWrite-', '')
  return {
    file: `${write}-hint-unacknowledged`,
    option: 'the hint of an unacknowledged write',
    wireVersion: since === '4.2' ? 8 : 9,
    tests: ['string', 'document'].map(
      (type) => `Unacknowledged ${operation} with hint ${type} fails with client-side error on pre-${since} server`,
    ),
  }
}

const byHintType = (operation: string): string[] =>
  ['string', 'document'].map((type) => `${operation} with hint ${type} unsupported (client-side error)`)

const refusedByDrivers: readonly Refused[] = [
  {
    file: 'bulkWrite-arrayFilters-clientError',
    option: 'array filters',
    wireVersion: 6,
    tests: ['', ' with arrayFilters on second op'].map(
      (end) => `BulkWrite on server that doesn't support arrayFilters${end}`,
    ),
  },
  {
    file: 'bulkWrite-delete-hint-clientError',
    option: 'the hint of a delete',
    wireVersion: 5,
    tests: ['deleteOne', 'deleteMany'].map((name) => `BulkWrite ${name} with hints unsupported (client-side error)`),
  },
  {
    file: 'bulkWrite-update-hint-clientError',
    option: 'the hint of an update',
    wireVersion: 5,
    tests: ['updateOne', 'updateMany', 'replaceOne'].map(
      (name) => `BulkWrite ${name} with update hints unsupported (client-side error)`,
    ),
  },
  {
    file: 'deleteMany-hint-clientError',
    option: 'the hint of a delete',
    wireVersion: 5,
    tests: byHintType('DeleteMany'),
  },
  {
    file: 'deleteOne-hint-clientError',
    option: 'the hint of a delete',
    wireVersion: 5,
    tests: byHintType('DeleteOne'),
  },
  {
    file: 'find-allowdiskuse-clientError',
    option: 'allowDiskUse of a find',
    wireVersion: 4,
    tests: ['true', 'false'].map(
      (value) => `Find fails when allowDiskUse ${value} is specified against pre 3.2 server`,
    ),
  },
  {
    file: 'findOneAndDelete-hint-clientError',
    option: 'the hint of a findAndModify',
    wireVersion: 8,
    tests: ['FindOneAndDelete with hint string unsupported (client-side error)', 'FindOneAndDelete with hint document'],
  },
  ...['Replace', 'Update'].map((verb) => ({
    file: `findOneAnd${verb}-hint-clientError`,
    option: 'the hint of a findAndModify',
    wireVersion: 8,
    tests: byHintType(`FindOneAnd${verb}`),
  })),
  {
    file: 'updateMany-hint-clientError',
    option: 'the hint of an update',
    wireVersion: 5,
    tests: byHintType('UpdateMany'),
  },
  {
    file: 'updateOne-hint-clientError',
    option: 'the hint of an update',
    wireVersion: 5,
    tests: byHintType('UpdateOne'),
  },
  ...['deleteMany', 'deleteOne'].flatMap((operation) => [
    unacknowledgedHint(`bulkWrite-${operation}`, '4.4'),
    unacknowledgedHint(operation, '4.4'),
  ]),
  ...['replaceOne', 'updateMany', 'updateOne'].flatMap((operation) => [
    unacknowledgedHint(`bulkWrite-${operation}`, '4.2'),
    unacknowledgedHint(operation, '4.2'),
  ]),
  ...['Delete', 'Replace', 'Update'].map((verb) => unacknowledgedHint(`findOneAnd${verb}`, '4.4')),
]

export const wireExceptions: readonly Exception[] = [
  ...refusedByDrivers.map(({ file, option, wireVersion, tests }): Exception => ({
    path: `crud/unified/${file}.json`,
    tests,
    kind: 'wire',
    reason: `drivers refuse ${option} below wire version ${wireVersion}`,
  })),
  {
    path: 'crud/unified/find-comment.json',
    tests: ['find with comment does not set comment on getMore - pre 4.4'],
    kind: 'wire',
    reason: 'drivers repeat the comment in getMore since wire version 9',
  },
  {
    path: 'crud/unified/aggregate.json',
    tests: ['aggregate with comment does not set comment on getMore - pre 4.4'],
    kind: 'wire',
    reason: 'drivers repeat the comment in getMore since wire version 9',
  },
]
