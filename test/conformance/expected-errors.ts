/** Compares an operation's `expectError` with the error that the driver threw. */
import {
  MongoBulkWriteError,
  MongoClientBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  type Document,
} from 'mongodb'
import { matchRoot, Mismatch, type MatchContext } from './matching.js'
import { partialBulkResult } from './operations/client.js'
import { plainBulkWriteResult } from './operations/collection.js'

/** @throws Mismatch when the error is not the expected one */
export function matchError(error: unknown, expected: Document, context: MatchContext): void {
  const check = (holds: boolean, what: string, wanted: unknown, found: unknown): void => {
    if (!holds) throw new Mismatch(`the error's ${what}`, wanted, found)
  }
  if (!(error instanceof Error)) throw new Mismatch('the error', 'an Error', error)
  // A mistake in the runner is not an answer of the driver.
  if (error instanceof Mismatch) throw error
  const server = serverErrorOf(error)
  const labels = error instanceof MongoError ? error.errorLabels : []
  for (const [name, value] of Object.entries(expected)) {
    switch (name) {
      case 'isError':
        break
      case 'isClientError':
        check(
          (server === null) === value,
          'origin',
          value === true ? 'the driver' : 'the server',
          `${error.name}: ${error.message}`,
        )
        break
      case 'isTimeoutError':
        check(
          error instanceof MongoOperationTimeoutError === value,
          'being a timeout',
          value,
          `${error.name}: ${error.message}`,
        )
        break
      case 'errorContains':
        check(error.message.toLowerCase().includes(String(value).toLowerCase()), 'message', value, error.message)
        break
      case 'errorCode':
        check(server?.code === value, 'code', value, server?.code ?? error.message)
        break
      case 'errorCodeName':
        check(server?.codeName === value, 'codeName', value, server?.codeName ?? error.message)
        break
      case 'errorLabelsContain':
        for (const label of value as string[]) check(labels.includes(label), 'labels', value, labels)
        break
      case 'errorLabelsOmit':
        for (const label of value as string[]) check(!labels.includes(label), 'labels', `none of ${value}`, labels)
        break
      case 'errorResponse':
        check(server !== null, 'response', value, error.message)
        matchRoot(server!.errorResponse, value, context, "the error's response")
        break
      case 'expectResult':
        matchRoot(partialResultOf(error), value, context, "the error's partial result")
        break
      case 'writeErrors':
        matchRoot(writeErrorsOf(error), value, context, 'writeErrors')
        break
      case 'writeConcernErrors':
        matchRoot(
          error instanceof MongoClientBulkWriteError ? error.writeConcernErrors : undefined,
          value,
          context,
          'writeConcernErrors',
        )
        break
      default:
        throw new Error(`the runner does not know ${name} of expectError`)
    }
  }
}

/** The server's error, unwrapped; null: the driver itself refused, or never reached a server. */
function serverErrorOf(error: Error): MongoServerError | null {
  if (error instanceof MongoClientBulkWriteError && error.cause instanceof MongoServerError) return error.cause
  if (error instanceof MongoServerError) return error
  if (error instanceof MongoNetworkError) return null
  return null
}

function partialResultOf(error: Error): unknown {
  if (error instanceof MongoBulkWriteError) return plainBulkWriteResult(error.result)
  if (error instanceof MongoClientBulkWriteError) return partialBulkResult(error.partialResult)
  return (error as { result?: unknown }).result
}

function writeErrorsOf(error: Error): unknown {
  if (!(error instanceof MongoClientBulkWriteError)) return undefined
  return Object.fromEntries([...error.writeErrors].map(([index, each]) => [String(index), { code: each.code }]))
}
