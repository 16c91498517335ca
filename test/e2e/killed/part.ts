import type { N8nServer } from '../../n8n/server';

/** What is in progress when n8n is killed, and the tests of what becomes of it. */
export type Part = {
	arrange: (server: N8nServer) => Promise<void>;
	beforeKill?: () => Promise<void>;
	whileKilled?: () => Promise<void>;
	afterKill: () => Promise<void>;
	stop: () => Promise<void>;
	tests: () => void;
};
