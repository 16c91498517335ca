import type { JsonObject } from '../json';
import type { SimulatorState } from '../world';

/** The state as JSON: maps as lists, sets as arrays, recordings as their size. */
export function stateView({ state, dialect, token }: SimulatorState): JsonObject {
	return {
		dialect: dialect.name,
		token,
		agents: [...state.agents.values()],
		campaigns: [...state.campaigns.values()].map((campaign) => ({
			...campaign,
			queuedPhones: [...campaign.queuedPhones],
		})),
		calls: [...state.calls.values()].map((call) => ({
			...call,
			recording: call.recording?.length ?? null,
			placed: call.request !== null,
		})),
		dnd: state.dnd,
		sessions: [...state.sessions.values()].map(
			({ interactions, remembered, spent: _spent, ...session }) => ({
				...session,
				interactions: [...interactions.values()],
				idempotencyKeys: [...remembered.keys()],
			}),
		),
	};
}
