import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { Agent } from '../state/types';
import type { Session } from './types';

/** An open session. Its context bucket already has an initial entry. */
export function newSession(
	agent: Agent,
	dialect: Dialect,
	now: number,
	sessionId: string,
): Session {
	return {
		sessionId,
		agentUuid: agent.agentUuid,
		accountId: agent.accountId,
		status: 'open',
		mode: 'ai',
		person: null,
		context: [dialect.chat.initialContext(agent.name)],
		messages: [],
		interactions: new Map(),
		remembered: new Map(),
		spent: new Set(),
		flight: null,
		events: [],
		deliveryUrl: null,
		createdAt: istTimestamp(now),
	};
}
