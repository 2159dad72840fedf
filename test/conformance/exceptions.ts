/**
 * Tests of the specification that are known to fail, each with the reason; the runner counts them
 * as skipped. With `checkExceptions` it runs them and reports those that pass.
 */
import type { Exception } from './exception.js'
import { isBefore, type ServerFacts } from './requirements.js'
import type { Skip } from './skip-kinds.js'
import { transactionExceptions } from './transaction-exceptions.js'
import { wireExceptions } from './wire-exceptions.js'

const exceptionsOfAllVersions: readonly Exception[] = [
  ...transactionExceptions,
  {
    path: 'crud/unified/bypassDocumentValidation.json',
    tests: [
      'Aggregate with $out passes bypassDocumentValidation: false',
      'BulkWrite passes bypassDocumentValidation: false',
      'FindOneAndReplace passes bypassDocumentValidation: false',
      'FindOneAndUpdate passes bypassDocumentValidation: false',
      'InsertMany passes bypassDocumentValidation: false',
    ],
    kind: 'driver',
    reason: 'the driver sends bypassDocumentValidation only when it is true',
  },
  {
    path: 'crud/unified/create-null-ids.json',
    tests: [
      'inserting _id with type null via insertOne',
      'inserting _id with type null via insertMany',
      'inserting _id with type null via bulkWrite',
      'inserting _id with type null via clientBulkWrite',
    ],
    kind: 'driver',
    reason: 'the driver replaces an _id of null by an ObjectId',
  },
  {
    path: 'collection-management/timeseries-collection.json',
    kind: 'feature',
    reason: 'Shardlab has no time series collections (deviation D400)',
  },
  {
    path: 'command-logging-and-monitoring/logging/operation-id.json',
    kind: 'driver',
    reason: 'the driver does not log the operationId of a bulk write',
  },
  {
    path: 'command-logging-and-monitoring/logging/pre-42-server-connection-id.json',
    kind: 'driver',
    reason: 'the driver logs a missing serverConnectionId as null',
  },
  {
    path: 'command-logging-and-monitoring/logging/redacted-commands.json',
    tests: [
      'network error in response to authenticate is not redacted',
      'network error in response to saslStart is not redacted',
      'network error in response to saslContinue is not redacted',
      'network error in response to getnonce is not redacted',
      'network error in response to createUser is not redacted',
      'network error in response to updateUser is not redacted',
    ],
    kind: 'driver',
    reason: 'the driver hides why these commands failed, network errors included',
  },
  ...[
    'listCollectionObjects',
    'listCollectionObjects-serverErrors',
    'listDatabaseObjects',
    'listDatabaseObjects-serverErrors',
  ].map((name): Exception => ({
    path: `retryable-reads/unified/${name}.json`,
    kind: 'driver',
    reason: 'the driver has no helper of this name',
  })),
  {
    path: 'retryable-reads/unified/mapReduce.json',
    kind: 'driver',
    reason: 'the driver has no mapReduce helper since version 5',
  },
  {
    path: 'read-write-concern/operation/default-write-concern-3.4.json',
    tests: ['MapReduce omits default write concern'],
    kind: 'driver',
    reason: 'the driver has no mapReduce helper since version 5',
  },
  ...['bulkWrite-replaceOne', 'replaceOne', 'updateOne'].map((name): Exception => ({
    path: `crud/unified/${name}-sort.json`,
    tests: [`${name.replace('bulkWrite-', 'BulkWrite ')} with sort option unsupported (server-side error)`],
    before: [3, 4],
    kind: 'specification',
    reason: 'servers before 3.4 ignore unknown fields of statements, though the test is for them too',
  })),
  {
    path: 'crud/unified/create-null-ids.json',
    tests: ['updateOne', 'updateMany', 'replaceOne'].map((name) => `inserting _id with type null via ${name}`),
    before: [3, 2],
    kind: 'specification',
    reason: "the tests use {$type: 'null'}, though servers before 3.2 have no names of types",
  },
  {
    path: 'crud/unified/db-aggregate-rawdata.json',
    tests: ['Aggregate with rawData option on less than 8.2.0 - ignore argument'],
    before: [3, 6],
    kind: 'specification',
    reason: 'the test uses $listLocalSessions, though servers before 3.6 do not have it',
  },
]

export const exceptions: readonly Exception[] = [...exceptionsOfAllVersions, ...wireExceptions]

/** The reason to skip this test; null: run it. */
export function exceptionFor(
  path: string,
  description: string,
  { version, wireVersionIsRaised }: Pick<ServerFacts, 'version' | 'wireVersionIsRaised'>,
): Skip | null {
  const applicable = wireVersionIsRaised ? exceptions : exceptionsOfAllVersions
  const found = applicable.find(
    ({ path: file, tests, before }) =>
      file === path &&
      (tests === undefined || tests.includes(description)) &&
      (before === undefined || isBefore(version, before)),
  )
  return found === undefined ? null : { kind: found.kind, reason: found.reason }
}
