import { response } from '../http/responses';
import type { Route } from '../http/route';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import { pageCommands } from '../page/commands';
import { SessionControl } from '../socket/sessionControl';
import { fill } from '../state/fill';
import type { SimulatorState } from '../world';
import { command } from './command';

/** What the page and the benchmarks, which are other processes, need. Tests use the `Simulator`. */
export function controlRoutes(world: SimulatorState): Route[] {
	const sessions = new SessionControl(world);
	const sessionOf = ({ sessionId }: JsonObject) => String(sessionId);
	return [
		{
			method: 'GET',
			path: '/__simulator/stats',
			handle: () => response(200, world.log.stats()),
		},
		command('reset', () => world.reset()),
		command('fill', ({ calls, dndPhones, sessions: added }) =>
			fill(world.state, world.dialect, world.clock.now(), {
				calls: Number(calls ?? 0),
				dndPhones: Number(dndPhones ?? 0),
				sessions: Number(added ?? 0),
			}),
		),
		command('createSession', ({ agentUuid, person }) => {
			const name = isNonEmptyString(person) ? person : null;
			return sessions.create(String(agentUuid), name).sessionId;
		}),
		command('pushEvent', ({ type, payload, ...body }) =>
			sessions.pushEvent(sessionOf(body), String(type), isObject(payload) ? payload : {}),
		),
		command('sockets', () => ({ open: sessions.openSockets() })),
		command('closeSession', (body) => sessions.close(sessionOf(body))),
		command('setMode', (body) =>
			sessions.setMode(sessionOf(body), body.mode === 'support' ? 'support' : 'ai'),
		),
		...pageCommands(world),
	];
}
