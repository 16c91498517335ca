import isEqual from 'lodash/isEqual';
import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import { asks } from './scriptedReplies';
import type { Incoming, Session } from './session';

const invalid = (error: string): JsonObject => ({ state: 'invalid', error });

/** The state of a message that starts no turn: rejected, or a replay of an accepted one. */
export function gate(
	{ state, dialect }: Simulator,
	session: Session,
	incoming: Incoming,
): JsonObject | null {
	if (state.agents.get(session.agentUuid)?.active !== true) return invalid('agent_inactive');
	if (session.accountId !== state.accountId) return invalid('session_account_mismatch');
	if (session.status === 'closed') return { state: 'error', error: dialect.chat.closedText };
	return (
		knownKey(session, incoming) ??
		invalidInteraction(session, incoming) ??
		busyOnce(session, incoming)
	);
}

function knownKey(session: Session, incoming: Incoming): JsonObject | null {
	const known = session.remembered.get(incoming.idempotencyKey ?? '');
	if (!known) return null;
	const { rail, content, interaction } = known.incoming;
	if (rail !== incoming.rail) return invalid('idempotency_key_rail_conflict');
	if (!isEqual([content, interaction], [incoming.content, incoming.interaction])) {
		return invalid('idempotency_key_reused');
	}
	return { ...known.outcome, state: 'accepted' };
}

function invalidInteraction(session: Session, { interaction }: Incoming): JsonObject | null {
	if (!interaction) return null;
	const shown = session.interactions.get(interaction.id);
	if (!shown || shown.answered) return invalid('invalid_interaction');
	const { optionId } = interaction;
	const fits = optionId === null ? shown.options.length === 0 : shown.options.includes(optionId);
	return fits ? null : invalid('invalid_interaction');
}

/** The first message that asks for it. */
function busyOnce(session: Session, { content }: Incoming): JsonObject | null {
	if (!asks(content, 'busyOnce') || session.spent.has(content)) return null;
	session.spent.add(content);
	return { state: 'busy', error: 'server_busy' };
}
