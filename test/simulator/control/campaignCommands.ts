import type { AutoDial } from '../calls/autoDial';
import { response } from '../http/responses';
import type { Route } from '../http/route';
import type { JsonObject } from '../json';
import { addAttempt, changeCampaign, completeUpload } from '../state/campaignControl';
import type { SimulatorState } from '../world';
import { command } from './command';

/** Changes campaigns over HTTP in ways that the API doesn't offer. */
export function campaignCommands({ state, dialect, autoDialer }: SimulatorState): Route[] {
	return [
		command('campaign', ({ id, status }) => {
			const wanted = (['Active', 'Paused', 'Archived'] as const).find((known) => known === status);
			if (!wanted) throw new Error('status must be Active, Paused or Archived');
			changeCampaign(state, dialect, Number(id), wanted);
		}),
		command('autoDial', (body) => autoDialer.set(autoDialFrom(body))),
		command('completeUpload', ({ uploadId }) => completeUpload(state, Number(uploadId))),
		command('addAttempt', ({ campaignId, status }) =>
			addAttempt(state, Number(campaignId), String(status)),
		),
		{
			method: 'GET',
			path: '/__simulator/contacts/:id',
			handle: ({ params }) => response(200, state.campaigns.get(Number(params.id))?.contacts ?? []),
		},
	];
}

/** Without `everyMs` and `lastsMs`, campaigns don't call anymore. */
function autoDialFrom({ everyMs, lastsMs }: JsonObject): AutoDial | null {
	if (typeof everyMs !== 'number' || typeof lastsMs !== 'number') return null;
	return { everyMs, lastsMs };
}
