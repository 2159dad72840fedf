import { CommandArguments, configAddress, isGenericArgument, type CommandRow, type FieldSpecs } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, fieldsOf, typeName } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onCluster } from '@shardlab/member'

const fields: FieldSpecs = { confirm: 'bool', downgradeOnDiskChanges: 'bool', fromConfigServer: 'bool' }

/**
 * Server: cluster_set_feature_compatibility_version_cmd.cpp,
 * set_feature_compatibility_version_command.cpp.
 */
export const setFeatureCompatibilityVersion: CommandRow<MongosInvocation> = {
  name: 'setFeatureCompatibilityVersion',
  routing: 'config-server',
  access: 'admin',
  privileges: onCluster('setFeatureCompatibilityVersion'),
  adminOnly: true,
  behaviour: 'featureCompatibilityVersionCanBeSet',
  manual: 'reference/command/setFeatureCompatibilityVersion',
  status: 'partial',
  deviations: ['D842'],
  lacks: 'an effect on features: members store and tell the version',
  summary: 'Sets the feature compatibility version of all members.',
  async run(invocation) {
    const { args, body, host, operation } = invocation
    const {
      featureCompatibilityNeedsConfirmation,
      featureCompatibilityVersion,
      featureCompatibilityVersions,
      setFeatureCompatibilityVersionIsTyped,
    } = host.behaviours
    if (setFeatureCompatibilityVersionIsTyped) CommandArguments.parse(body, fields)
    else checkUntyped(invocation)
    const version = args.targetString()
    if (
      featureCompatibilityNeedsConfirmation &&
      featureCompatibilityVersions.includes(version) &&
      args.bool('confirm') !== true
    )
      throw new CommandError(7369100, confirmation(version, version === featureCompatibilityVersion))
    raise(
      (await host.remote.request(configAddress, 'config.set-feature-compatibility-version', { version }, operation))
        .error,
    )
    return new DocumentWriter(192)
  },
}

function confirmation(version: string, isUpgrade: boolean): string {
  return isUpgrade
    ? `Once you have upgraded to ${version}, you will not be able to downgrade FCV and binary version without support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV upgrade.`
    : "Once you have downgraded the FCV, if you choose to downgrade the binary version, it will require support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV downgrade."
}

/**
 * Server: feature_compatibility_version_command_parser.cpp.
 * @throws CommandError 14 TypeMismatch, 72 InvalidOptions
 */
function checkUntyped({ args, body, host }: MongosInvocation): void {
  const page = `See http://dochub.mongodb.org/core/${host.behaviours.featureCompatibilityVersion}-feature-compatibility.`
  if (args.target.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `Command argument must be of type String, but was of type ${typeName(args.target.type)} in: ${formatDocument(body)}. ${page}`,
    )
  for (const [name] of fieldsOf(body).slice(1)) {
    if (!isGenericArgument(name))
      throw new CommandError('InvalidOptions', `Unrecognized field found ${name} in ${formatDocument(body)}. ${page}`)
  }
}
