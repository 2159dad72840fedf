import { CommandError, ErrorCodes } from '@shardlab/bson'
import type { RequestFailedError } from '../contract/errors.js'

/** The error with which the server reports that another member did not answer a request. */
export function requestFailure({ reason, undelivered, to }: RequestFailedError): CommandError {
  if (reason === 'timed-out') return new CommandError('NetworkInterfaceExceededTimeLimit', `Request to ${to} timed out`)
  if (undelivered) return hostNotFound(to)
  return new CommandError('HostUnreachable', `Connection to ${to} closed by peer`)
}

export function hostNotFound(setName: string, mode: 'primary' | 'nearest' = 'primary'): CommandError {
  return new CommandError(
    'FailedToSatisfyReadPreference',
    `Could not find host matching read preference { mode: "${mode}" } for set ${setName}`,
  )
}

/** Whether another member reports with this error that a third one did not answer. */
export function isRequestFailure({ code }: CommandError): boolean {
  return (
    code === ErrorCodes.FailedToSatisfyReadPreference ||
    code === ErrorCodes.HostUnreachable ||
    code === ErrorCodes.NetworkInterfaceExceededTimeLimit
  )
}
