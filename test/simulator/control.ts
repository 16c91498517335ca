import { switchMode } from './chat/session';
import { response, type Handler, type Routes } from './http/route';
import { isNonEmptyString, isObject, type JsonObject } from './json';
import { flip } from './page/switches';
import type { Simulator } from './simulator';
import { fill } from './state/fill';

type Command = (sim: Simulator, body: JsonObject) => unknown;

/** What the page and the benchmarks, which are other processes, need. Tests use the `Simulator`. */
const COMMANDS: { [name: string]: Command } = {
	reset: (sim) => sim.reset(),
	fill: ({ state, clock }, { calls, sessions }) =>
		fill(state, clock.now(), { calls: Number(calls ?? 0), sessions: Number(sessions ?? 0) }),
	createSession: ({ sessions }, { agentUuid, person }) => {
		const name = isNonEmptyString(person) ? person : null;
		return sessions.create(String(agentUuid), name).sessionId;
	},
	pushEvent: ({ sessions }, { sessionId, type, payload }) =>
		sessions.pushEvent(String(sessionId), String(type), isObject(payload) ? payload : {}),
	sockets: ({ sessions }) => ({ open: sessions.openSockets() }),
	closeSession: ({ sessions }, { sessionId }) => sessions.close(String(sessionId)),
	handBack: ({ sessions }, { sessionId }) => sessions.setMode(String(sessionId), 'ai'),
	switch: (sim, { name }) => flip(sim, name),
	/** As in the chat of a website: the agent replies, and the followers get events. */
	writeAsCustomer: async ({ sessions, chat }, { sessionId, text }) => {
		const unnamed = { interaction: null, messageId: null, idempotencyKey: null };
		const incoming = { rail: 'socket', content: String(text), ...unnamed } as const;
		return await chat.send(sessions.get(String(sessionId)), incoming);
	},
	/** Takes over the chat, if the agent has it. */
	writeAsPerson: ({ sessions, chat, dialect }, { sessionId, text }) => {
		const session = sessions.get(String(sessionId));
		switchMode(session, 'support', dialect, chat.emitter(session));
		chat.addMessage(session, 'ai', String(text));
	},
};

/** Responds with the result of a command, or with its error. */
const route =
	(run: Command): Handler =>
	async (sim, { body }) => {
		try {
			const result = (await run(sim, isObject(body) ? body : {})) ?? null;
			return response(200, { done: true, result });
		} catch (caught) {
			const message = caught instanceof Error ? caught.message : '';
			return response(400, { done: false, message });
		}
	};

export const CONTROL_ROUTES: Routes = {
	'GET /__simulator/stats': (sim) => response(200, sim.stats()),
	...Object.fromEntries(
		Object.entries(COMMANDS).map(([name, run]) => [`POST /__simulator/${name}`, route(run)]),
	),
};
