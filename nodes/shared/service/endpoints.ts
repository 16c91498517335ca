export * from './endpoints/agents';
export * from './endpoints/calls';
export * from './endpoints/campaigns';
export * from './endpoints/chat';
export * from './endpoints/chatSessions';
export * from './endpoints/dnd';
export type { Additions } from './endpoints/request';
