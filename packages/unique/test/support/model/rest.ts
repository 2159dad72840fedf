/** What holds after the clients have stopped, at any state of the documents. */
import type { Fields } from '@shardlab/unique'
import { Story, type Layout } from '../story.js'
import { mustBeExpected } from './automaton.js'
import type { Documents } from './collections.js'
import { epochMs } from './program.js'
import { shared } from './search.js'

/** Reservations without a document, and incomplete ones. */
export function leftovers(layout: Layout, documents: Documents): string[] {
  return storyOf(layout, documents).leftovers()
}

function storyOf(layout: Layout, documents: Documents): Story {
  const story = new Story(layout, ['email'], true)
  story.main.documents.push(...documents.main)
  story.proxies[0]!.collection.documents.push(...documents.proxy)
  return story
}

/** Follows the guide's steps after a crash, as a new client. @returns what is wrong */
export async function recovered(layout: Layout, documents: Documents, before: readonly Fields[]): Promise<string[]> {
  const story = storyOf(layout, documents)
  const wrong: string[] = []
  const client = story.client()
  await client.maintenance.begin()
  const refused = async (email: unknown, when: string): Promise<void> => {
    const inserted = await client.insert({ _id: 100, email }).then(
      () => true,
      (error: unknown) => (mustBeExpected(error), false),
    )
    if (inserted) wrong.push(`${when}: a second document got ${String(email)}`)
  }
  for (const { email } of [...story.main.documents]) await refused(email, 'before the repair')
  story.scheduler.nowMs += 2 * epochMs
  await client.maintenance.repair()
  wrong.push(...shared(story.main.documents, before).map((each) => `after the repair: ${each}`))
  let report = await client.maintenance.backfill()
  for (const finding of report.findings) {
    if (finding.kind !== 'duplicate') wrong.push(`found ${JSON.stringify(finding)}`)
    // The user follows the report, and uses the value before the next backfill.
    await client.remove(finding.kind === 'duplicate' ? finding.holder : null)
    for (const { email } of [...story.main.documents]) await refused(email, 'after a duplicate was deleted')
  }
  if (report.findings.length > 0) {
    if (report.enforcing || report.next === null) wrong.push(`not reported: ${JSON.stringify(report)}`)
    report = await client.maintenance.backfill()
  }
  if (!report.enforcing || report.next !== null) wrong.push(`not enforcing: ${JSON.stringify(report)}`)
  const verified = await client.maintenance.verify()
  if (verified.findings.length > 0 || verified.next !== null) wrong.push(`found: ${JSON.stringify(verified)}`)
  for (const { email } of [...story.main.documents]) await refused(email, 'while enforcing')
  return [...wrong, ...story.violations()]
}
