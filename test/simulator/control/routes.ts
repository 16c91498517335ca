import type { AutoComplete, DeliveryOptions } from '../calls/completions';
import { outcomeFrom } from '../calls/completions';
import { response } from '../http/responses';
import type { Route } from '../http/route';
import { isObject, type JsonObject } from '../json';
import type { Settings, SimulatorState } from '../world';
import { SessionControl } from '../socket/sessionControl';
import { faultFrom } from './faultFrom';
import { campaignCommands } from './campaignCommands';
import { command } from './command';
import { sessionCommands } from './sessionCommands';
import { pageCommands } from '../page/commands';
import { fill } from '../state/fill';
import { listChangeFrom } from '../state/listChanges';
import { stateView } from './stateView';

/** Controls the simulator from another process. */
export function controlRoutes(world: SimulatorState): Route[] {
	const get = (path: string, read: () => unknown): Route => ({
		method: 'GET',
		path: `/__simulator/${path}`,
		handle: () => response(200, read()),
	});
	return [
		get('state', () => stateView(world)),
		get('requests', () => world.log.requests),
		get('stats', () => world.log.stats()),
		command('reset', () => world.reset()),
		command('fill', ({ calls, dndPhones, sessions }) =>
			fill(world.state, world.dialect, world.clock.now(), {
				calls: Number(calls ?? 0),
				dndPhones: Number(dndPhones ?? 0),
				sessions: Number(sessions ?? 0),
			}),
		),
		command('faults', (body) => world.faults.inject(faultFrom(body))),
		command('faults/clear', () => world.faults.clear()),
		command('listChange', (body) => world.listChanges.plan(listChangeFrom(body))),
		command('settings', (body) => Object.assign(world.settings, settingsFrom(body))),
		command('clock', (body) => world.clock.advance(Number(body.advanceMs ?? 0))),
		command('completeCall', async (body) => {
			const outcome = outcomeFrom(body.outcome);
			return await world.completions.complete(
				String(body.callId),
				outcome,
				deliveryFrom(body.delivery),
			);
		}),
		command('deliverWebhook', async (body) => {
			return await world.completions.deliverWebhook(
				String(body.callId),
				deliveryFrom(body.delivery),
			);
		}),
		command('autoComplete', (body) => world.completions.setAuto(autoFrom(body))),
		...campaignCommands(world),
		...pageCommands(world),
		...sessionCommands(new SessionControl(world)),
	];
}

function deliveryFrom(value: unknown): DeliveryOptions {
	if (!isObject(value)) return {};
	const { deliverTimes, concurrently, forged, url } = value;
	return {
		...(typeof deliverTimes === 'number' ? { deliverTimes } : {}),
		...(typeof concurrently === 'boolean' ? { concurrently } : {}),
		...(isObject(forged) ? { forged } : {}),
		...(typeof url === 'string' ? { url } : {}),
	};
}

/** Without `afterMs`, calls don't complete automatically anymore. */
function autoFrom({ afterMs, outcome, delivery }: JsonObject): AutoComplete | null {
	if (afterMs !== 'beforeResponse' && typeof afterMs !== 'number') return null;
	return { afterMs, outcome: outcomeFrom(outcome), delivery: deliveryFrom(delivery) };
}

function settingsFrom(body: JsonObject): Settings {
	const { latencyMs, wsTokenLifetimeMs, replayWindowMs, replayMaxEvents, asyncReplyMs, minGapMs } =
		body;
	return {
		...(typeof latencyMs === 'number' ? { latencyMs } : {}),
		...(typeof wsTokenLifetimeMs === 'number' ? { wsTokenLifetimeMs } : {}),
		...(typeof replayWindowMs === 'number' ? { replayWindowMs } : {}),
		...(typeof replayMaxEvents === 'number' ? { replayMaxEvents } : {}),
		...(typeof asyncReplyMs === 'number' ? { asyncReplyMs } : {}),
		...(typeof minGapMs === 'number' ? { minGapMs } : {}),
	};
}
