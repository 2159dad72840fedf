import { CommandArguments } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { commandOnView } from './command-on-view.js'
import type { ResolvedView } from './resolved-view.js'

export function explainBody(
  body: Uint8Array,
  view: ResolvedView,
): { readonly body: Uint8Array; readonly args: CommandArguments } {
  const writer = new DocumentWriter(body.length + 256).document(
    'explain',
    commandOnView(findField(body, 'explain')!.slice(), view),
  )
  const verbosity = findField(body, 'verbosity')
  if (verbosity !== undefined) writer.value('verbosity', verbosity)
  const finished = writer.finish()
  return { body: finished, args: CommandArguments.parse(finished, null) }
}
