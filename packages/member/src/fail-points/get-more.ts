import { CommandError, ErrorCodes, findField } from '@shardlab/bson'
import { isMeant, type CommandSender } from './fail-command.js'

/**
 * The fail point failGetMoreAfterCursorCheckout: a getMore that has found its cursor fails.
 * Server: cluster_find.cpp, getmore_cmd.cpp.
 * @throws CommandError with the code of the fail point's data, or 1 InternalError
 */
export function checkGetMoreAfterCheckout(command: CommandSender): void {
  const data = command.host.failPoints.enter('failGetMoreAfterCursorCheckout', (each) => isMeant(each, command))
  if (data === null) return
  const code = findField(data, 'errorCode')
  throw new CommandError(
    code?.isNumber() === true ? code.asNumber() : ErrorCodes.InternalError,
    "Hit the 'failGetMoreAfterCursorCheckout' failpoint",
  )
}
