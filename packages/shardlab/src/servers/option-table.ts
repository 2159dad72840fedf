/**
 * The options of mongod and mongos, on the command line and in configuration files. Manual:
 * reference/program/mongod, reference/program/mongos, reference/configuration-options.
 */

export type ServerName = 'mongod' | 'mongos'

/** `switch`: without an argument on the command line. `map`: `name=value`, any number of times. */
export type OptionType = 'switch' | 'bool' | 'int' | 'number' | 'string' | 'strings' | 'map'

/**
 * `used`: it has the effect of the server's option. `accepted`: it is about something that is not
 * emulated, such as files, and changes no answer. `refused`: clients would get wrong answers
 * without it.
 */
export type OptionEffect = 'used' | 'accepted' | 'refused'

export interface ServerOption {
  /** On the command line, without `--`. */
  readonly name: string
  readonly short?: string
  /** In YAML files, such as `net.port`. Null: only on the command line. */
  readonly path: string | null
  readonly type: OptionType
  readonly effect: OptionEffect
  /** Null: both. */
  readonly server: ServerName | null
}

type Row = readonly [names: string, path: string | null, type: OptionType]

const usedByBoth: readonly Row[] = [
  ['help,h', null, 'switch'],
  ['version', null, 'switch'],
  ['config,f', null, 'string'],
  ['port', 'net.port', 'int'],
  ['bind_ip', 'net.bindIp', 'string'],
  ['bind_ip_all', 'net.bindIpAll', 'switch'],
  ['ipv6', 'net.ipv6', 'switch'],
  ['maxConns', 'net.maxIncomingConnections', 'int'],
  ['logpath', 'systemLog.path', 'string'],
  ['logappend', 'systemLog.logAppend', 'switch'],
  ['syslog', null, 'switch'],
  ['pidfilepath', 'processManagement.pidFilePath', 'string'],
  ['fork', 'processManagement.fork', 'switch'],
  ['setParameter', 'setParameter', 'map'],
  ['noauth', null, 'switch'],
  ['', 'systemLog.destination', 'string'],
  ['', 'security.authorization', 'string'],
  ['keyFile', 'security.keyFile', 'string'],
]

/** With the names until 4.0, which later versions accept. */
const usedTlsOptions: readonly Row[] = [
  ['tlsMode', 'net.tls.mode', 'string'],
  ['tlsOnNormalPorts', null, 'switch'],
  ['tlsCertificateKeyFile', 'net.tls.certificateKeyFile', 'string'],
  ['tlsCertificateKeyFilePassword', 'net.tls.certificateKeyFilePassword', 'string'],
  ['tlsCAFile', 'net.tls.CAFile', 'string'],
  ['tlsCRLFile', 'net.tls.CRLFile', 'string'],
  ['tlsDisabledProtocols', 'net.tls.disabledProtocols', 'string'],
  ['tlsAllowConnectionsWithoutCertificates', 'net.tls.allowConnectionsWithoutCertificates', 'switch'],
  ['tlsAllowInvalidCertificates', 'net.tls.allowInvalidCertificates', 'switch'],
  ['sslMode', 'net.ssl.mode', 'string'],
  ['sslOnNormalPorts', 'net.ssl.sslOnNormalPorts', 'switch'],
  ['sslPEMKeyFile', 'net.ssl.PEMKeyFile', 'string'],
  ['sslPEMKeyPassword', 'net.ssl.PEMKeyPassword', 'string'],
  ['sslCAFile', 'net.ssl.CAFile', 'string'],
  ['sslCRLFile', 'net.ssl.CRLFile', 'string'],
  ['sslDisabledProtocols', 'net.ssl.disabledProtocols', 'string'],
  ['sslAllowConnectionsWithoutCertificates', 'net.ssl.allowConnectionsWithoutCertificates', 'switch'],
  ['sslWeakCertificateValidation', 'net.ssl.weakCertificateValidation', 'switch'],
  ['sslAllowInvalidCertificates', 'net.ssl.allowInvalidCertificates', 'switch'],
]

const usedByMongod: readonly Row[] = [
  ['auth', null, 'switch'],
  ['dbpath', 'storage.dbPath', 'string'],
  ['storageEngine', 'storage.engine', 'string'],
  ['replSet', 'replication.replSet', 'string'],
  ['', 'replication.replSetName', 'string'],
  ['configsvr', null, 'switch'],
  ['shardsvr', null, 'switch'],
  ['', 'sharding.clusterRole', 'string'],
  ['slowms', 'operationProfiling.slowOpThresholdMs', 'int'],
  ['profile', null, 'int'],
]

const usedByMongos: readonly Row[] = [['configdb', 'sharding.configDB', 'string']]

const acceptedByBoth: readonly Row[] = [
  ['configExpand', null, 'string'],
  ['listenBacklog', 'net.listenBacklog', 'int'],
  ['timeZoneInfo', 'processManagement.timeZoneInfo', 'string'],
  ['nounixsocket', null, 'switch'],
  ['unixSocketPrefix', 'net.unixDomainSocket.pathPrefix', 'string'],
  ['filePermissions', 'net.unixDomainSocket.filePermissions', 'string'],
  ['', 'net.unixDomainSocket.enabled', 'bool'],
  ['networkMessageCompressors', 'net.compression.compressors', 'string'],
  ['objcheck', null, 'switch'],
  ['noobjcheck', null, 'switch'],
  ['', 'net.wireObjectCheck', 'bool'],
  ['serviceExecutor', 'net.serviceExecutor', 'string'],
  ['transportLayer', 'net.transportLayer', 'string'],
  ['syslogFacility', 'systemLog.syslogFacility', 'string'],
  ['logRotate', 'systemLog.logRotate', 'string'],
  ['timeStampFormat', 'systemLog.timeStampFormat', 'string'],
  ['traceExceptions', 'systemLog.traceAllExceptions', 'switch'],
  ['verbose,v', 'systemLog.verbosity', 'switch'],
  ['quiet', 'systemLog.quiet', 'switch'],
  ['redactClientLogData', 'security.redactClientLogData', 'switch'],
  ['noscripting', null, 'switch'],
  ['', 'security.javascriptEnabled', 'bool'],
  ['upgrade', null, 'switch'],
  ['slowOpSampleRate', 'operationProfiling.slowOpSampleRate', 'number'],
  ['', 'operationProfiling.mode', 'string'],
  ['enableFreeMonitoring', 'cloud.monitoring.free.state', 'string'],
  ['freeMonitoringTag', 'cloud.monitoring.free.tags', 'strings'],
]

const acceptedByMongod: readonly Row[] = [
  ['cpu', null, 'switch'],
  ['sysinfo', null, 'switch'],
  ['notablescan', null, 'switch'],
  ['directoryperdb', 'storage.directoryPerDB', 'switch'],
  ['syncdelay', 'storage.syncPeriodSecs', 'number'],
  ['journal', 'storage.journal.enabled', 'switch'],
  ['nojournal', null, 'switch'],
  ['dur', null, 'switch'],
  ['nodur', null, 'switch'],
  ['journalCommitInterval', 'storage.journal.commitIntervalMs', 'int'],
  ['journalOptions', 'storage.journal.debugFlags', 'int'],
  ['noprealloc', 'storage.mmapv1.preallocDataFiles', 'switch'],
  ['nssize', 'storage.mmapv1.nsSize', 'int'],
  ['smallfiles', 'storage.mmapv1.smallFiles', 'switch'],
  ['repair', null, 'switch'],
  ['oplogSize', 'replication.oplogSizeMB', 'int'],
  ['oplogMinRetentionHours', 'storage.oplogMinRetentionHours', 'number'],
  ['enableMajorityReadConcern', 'replication.enableMajorityReadConcern', 'string'],
  ['replIndexPrefetch', 'replication.secondaryIndexPrefetch', 'string'],
  ['inMemorySizeGB', 'storage.inMemory.engineConfig.inMemorySizeGB', 'number'],
  ['wiredTigerCacheSizeGB', 'storage.wiredTiger.engineConfig.cacheSizeGB', 'number'],
  ['wiredTigerCacheSizePct', 'storage.wiredTiger.engineConfig.cacheSizePct', 'number'],
  ['wiredTigerStatisticsLogDelaySecs', null, 'int'],
  ['wiredTigerJournalCompressor', 'storage.wiredTiger.engineConfig.journalCompressor', 'string'],
  ['zstdDefaultCompressionLevel', 'storage.wiredTiger.engineConfig.zstdCompressionLevel', 'int'],
  ['wiredTigerDirectoryForIndexes', 'storage.wiredTiger.engineConfig.directoryForIndexes', 'switch'],
  ['wiredTigerMaxCacheOverflowFileSizeGB', 'storage.wiredTiger.engineConfig.maxCacheOverflowFileSizeGB', 'number'],
  ['wiredTigerEngineConfigString', 'storage.wiredTiger.engineConfig.configString', 'string'],
  ['wiredTigerCollectionBlockCompressor', 'storage.wiredTiger.collectionConfig.blockCompressor', 'string'],
  ['wiredTigerCollectionConfigString', 'storage.wiredTiger.collectionConfig.configString', 'string'],
  ['wiredTigerIndexPrefixCompression', 'storage.wiredTiger.indexConfig.prefixCompression', 'string'],
  ['wiredTigerIndexConfigString', 'storage.wiredTiger.indexConfig.configString', 'string'],
  ['profileFilter', 'operationProfiling.filter', 'string'],
]

/** Messages between members do not use TLS. */
const acceptedTlsOptions: readonly Row[] = [
  ['tlsClusterFile', 'net.tls.clusterFile', 'string'],
  ['tlsClusterPassword', 'net.tls.clusterPassword', 'string'],
  ['tlsClusterCAFile', 'net.tls.clusterCAFile', 'string'],
  ['tlsAllowInvalidHostnames', 'net.tls.allowInvalidHostnames', 'switch'],
  ['tlsLogVersions', 'net.tls.logVersions', 'string'],
  ['sslClusterFile', 'net.ssl.clusterFile', 'string'],
  ['sslClusterPassword', 'net.ssl.clusterPassword', 'string'],
  ['sslAllowInvalidHostnames', 'net.ssl.allowInvalidHostnames', 'switch'],
]

const acceptedByMongos: readonly Row[] = [
  ['localThreshold', 'replication.localPingThresholdMs', 'int'],
  ['test', null, 'switch'],
]

/** Authentication of members, and a cryptographic library. */
const refusedByBoth: readonly Row[] = [
  ['clusterAuthMode', 'security.clusterAuthMode', 'string'],
  ['transitionToAuth', 'security.transitionToAuth', 'switch'],
  ['clusterIpSourceAllowlist', 'security.clusterIpSourceAllowlist', 'strings'],
  ['tlsFIPSMode', 'net.tls.FIPSMode', 'switch'],
  ['sslFIPSMode', 'net.ssl.FIPSMode', 'switch'],
]

const refusedByMongod: readonly Row[] = [
  ['restore', null, 'switch'],
  ['serverless', null, 'string'],
]

const rowsOf = (rows: readonly Row[], effect: OptionEffect, server: ServerName | null): ServerOption[] =>
  rows.map(([names, path, type]) => {
    const [name = '', short] = names.split(',')
    return { name, path, type, effect, server, ...(short === undefined ? {} : { short }) }
  })

export const serverOptions: readonly ServerOption[] = [
  ...rowsOf(usedByBoth, 'used', null),
  ...rowsOf(usedTlsOptions, 'used', null),
  ...rowsOf(usedByMongod, 'used', 'mongod'),
  ...rowsOf(usedByMongos, 'used', 'mongos'),
  ...rowsOf(acceptedByBoth, 'accepted', null),
  ...rowsOf(acceptedTlsOptions, 'accepted', null),
  ...rowsOf(acceptedByMongod, 'accepted', 'mongod'),
  ...rowsOf(acceptedByMongos, 'accepted', 'mongos'),
  ...rowsOf(refusedByBoth, 'refused', null),
  ...rowsOf(refusedByMongod, 'refused', 'mongod'),
]

export function optionsOf(server: ServerName): ServerOption[] {
  return serverOptions.filter((option) => option.server === null || option.server === server)
}
