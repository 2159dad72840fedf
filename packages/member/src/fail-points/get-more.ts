import { CommandError, ErrorCodes, findField } from '@shardlab/bson'
import { selectsSender, type CommandSender } from './fail-command.js'

/**
 * A getMore fails after it has found its cursor. Server: cluster_find.cpp, getmore_cmd.cpp.
 * @throws CommandError with the code in the data of the fail point, or 1 InternalError
 */
export function checkGetMoreAfterCheckout(command: CommandSender): void {
  const data = command.host.failPoints.enter('failGetMoreAfterCursorCheckout', (each) => selectsSender(each, command))
  if (data === null) return
  const code = findField(data, 'errorCode')
  throw new CommandError(
    code?.isNumber() === true ? code.asNumber() : ErrorCodes.InternalError,
    "Hit the 'failGetMoreAfterCursorCheckout' failpoint",
  )
}
