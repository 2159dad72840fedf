/**
 * Server: set_feature_compatibility_version_command.cpp, feature_compatibility_version_parser.cpp.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { setFeatureCompatibilityVersionOf } from '@shardlab/node'
import type { Behaviours } from '@shardlab/sharding'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const featureCompatibilityHandlers: ConfigHandlers<'config.set-feature-compatibility-version'> = {
  'config.set-feature-compatibility-version': setFeatureCompatibilityVersion,
}

async function setFeatureCompatibilityVersion(
  catalog: CatalogHost,
  { version }: RequestOf<'config.set-feature-compatibility-version'>,
): Promise<ReplyOf<'config.set-feature-compatibility-version'>> {
  const { node, behaviours } = catalog
  const { context } = node
  checkKnown(behaviours, version)
  const actual = node.featureCompatibilityVersion
  if (version === behaviours.transitionalFeatureCompatibilityVersion && version !== actual)
    throw new CommandError(
      5147403,
      `cannot set featureCompatibilityVersion to '${version}' while featureCompatibilityVersion is '${actual}'`,
    )
  // Downgrade shards first and upgrade them last: no shard may have a feature that the config
  // server lacks.
  await context.reach('config.set-feature-compatibility-version.started', { version })
  await context.all(
    catalog.shardIds().map((shard) => context.request(shard, 'shard.set-feature-compatibility-version', { version })),
  )
  setFeatureCompatibilityVersionOf(node, version)
  await node.flushToMajority()
  return { error: null }
}

/** @throws CommandError 2 BadValue or 4926900 */
function checkKnown(
  {
    featureCompatibilityVersion: own,
    featureCompatibilityVersions: versions,
    featureCompatibilityErrors: style,
  }: Behaviours,
  version: string,
): void {
  if (versions.includes(version)) return
  const [oldest, ...newer] = versions
  switch (style) {
    case 'bad-value':
      throw new CommandError(
        'BadValue',
        `Invalid command argument. Expected '${own}' or '${oldest}', found ${version} in: { setFeatureCompatibilityVersion: "${version}" }. See http://dochub.mongodb.org/core/${own}-feature-compatibility.`,
      )
    default: {
      // The server's text also lacks the last quotation mark.
      const choice = [oldest, ...newer].map((each) => `'${each}`).join("' or ")
      const seen = style === 'with-value' ? ` value '${version}';` : ' value,'
      throw new CommandError(
        4926900,
        `Invalid feature compatibility version${seen} expected ${choice}. See https://docs.mongodb.com/master/release-notes/${oldest}-compatibility/#feature-compatibility.`,
      )
    }
  }
}
