import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { readAdditions } from '../shared/n8n/additions';
import { cancellableSleep } from '../shared/n8n/cancel';
import { readConcurrency } from '../shared/n8n/concurrency';
import { clock, connectOnce } from '../shared/n8n/connect';
import { asItems, forEachItem } from '../shared/n8n/itemLoop';
import { Parameters } from '../shared/n8n/parameters';
import { simplifyCampaign, viewCampaign } from '../shared/campaign';
import { getCampaignStatus } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { parseCampaignId } from '../shared/api/identifiers';
import { readWait } from './readWait';
import { READS_AT_ONCE } from './properties';
import { statusWithin } from './statusWithin';

/** Another item has stopped the run, so this one need not wait any longer. */
class Abandoned extends Error {
	override readonly name = 'Abandoned';
}

/** One item a campaign: as it stands, or as it stands when the wait is over. */
export async function readStatuses(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const parameters = new Parameters(context);
	const connection = connectOnce(context);
	const waitingClock = { ...clock, sleep: cancellableSleep(context) };
	const atOnce = readConcurrency(parameters, READS_AT_ONCE);
	const limit = pLimit(atOnce);
	let stopped = false;

	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const { service } = await connection();
		const campaignId = parseCampaignId(parameters.value('campaignId', index));
		const wait = readWait(parameters, index);
		const additions = readAdditions(parameters.record('options', index));
		const read = async () => {
			if (stopped) throw new Abandoned();
			const answer = await getCampaignStatus(service, campaignId, additions);
			return viewCampaign(recordOf(answer));
		};
		const { view, told } = await statusWithin(async () => await limit(read), wait, waitingClock);
		const simplify = parameters.boolean('simplify', index);
		return asItems({ ...(simplify ? simplifyCampaign(view) : view.record), ...told });
	};
	const task = async (index: number) =>
		await statusOf(index).catch((error: unknown) => {
			if (error instanceof Abandoned) return [];
			stopped = !context.continueOnFail();
			throw error;
		});
	// Items that wait do so side by side; only their reads are held back.
	const waiting = (context.getNode().parameters.waitUntilCompleted ?? false) !== false;
	const concurrency = waiting ? Math.max(1, context.getInputData().length) : atOnce;
	return await forEachItem(context, task, { concurrency });
}
