export * from './credentialsHelper';
export * from './deduplicator';
export * from './engine';
export * from './nodeTypes';
export * from './service';
export * from './time';
export * from './tools';
export * from './triggers';
export { loader } from './sourceLoader';
