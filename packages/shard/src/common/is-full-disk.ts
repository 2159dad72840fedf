import { ErrorCodes, type CommandError } from '@shardlab/bson'

export const isFullDisk = ({ code }: CommandError): boolean => code === ErrorCodes.OutOfDiskSpace
