export * from './agents';
export * from './calls';
export * from './campaigns';
export * from './chat';
export type { Additions } from './endpoint';
