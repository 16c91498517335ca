export * from './call';
export * from './campaign';
export * from './chat';
