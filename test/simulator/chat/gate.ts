import type { JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { asks, MAGIC } from './scriptedReplies';
import type { Incoming, Session } from './types';

export const invalidTurn = (error: string): JsonObject => ({ state: 'invalid', error });

export function fingerprintOf({ content, interaction }: Incoming): string {
	return JSON.stringify([content, interaction?.id ?? null, interaction?.optionId ?? null]);
}

/** The state of a message that starts no turn: rejected, or a replay of an accepted one. */
export function gate(
	world: SimulatorState,
	session: Session,
	incoming: Incoming,
): JsonObject | null {
	const { state, dialect } = world;
	if (state.agents.get(session.agentUuid)?.active !== true) return invalidTurn('agent_inactive');
	if (session.accountId !== state.accountId) return invalidTurn('session_account_mismatch');
	if (session.status === 'closed') return { state: 'error', error: dialect.chat.closedText };
	return (
		knownKey(session, incoming) ??
		interactionFault(session, incoming) ??
		requestedState(session, incoming)
	);
}

function knownKey(session: Session, incoming: Incoming): JsonObject | null {
	const known = session.remembered.get(incoming.idempotencyKey ?? '');
	if (!known) return null;
	if (known.rail !== incoming.rail) return invalidTurn('idempotency_key_rail_conflict');
	if (known.fingerprint !== fingerprintOf(incoming)) return invalidTurn('idempotency_key_reused');
	return { ...known.outcome, state: 'accepted' };
}

function interactionFault(session: Session, { interaction }: Incoming): JsonObject | null {
	if (!interaction) return null;
	const shown = session.interactions.get(interaction.id);
	const fits =
		shown !== undefined &&
		!shown.answered &&
		(interaction.optionId === null
			? shown.options.length === 0
			: shown.options.includes(interaction.optionId));
	return fits ? null : invalidTurn('invalid_interaction');
}

/** States that the content requests. */
function requestedState(session: Session, { content }: Incoming): JsonObject | null {
	const busy: JsonObject = { state: 'busy', error: 'server_busy' };
	if (asks(content, 'busy')) return busy;
	if (asks(content, 'busyOnce') && !session.spent.has(content)) {
		session.spent.add(content);
		return busy;
	}
	return asks(content, 'invalid') ? invalidTurn(content.slice(MAGIC.invalid.length).trim()) : null;
}
