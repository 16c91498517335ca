import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { sendEachItem } from '../shared/n8n/itemLoop';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { noteDeed } from '../shared/n8n/toolRun';
import type { FeedOutcome } from './feed/feed';
import { sumUp } from './feed/report';
import { ExplainedError, type Outcome } from '../shared/api/errors';
import { feedRows } from './feedRows';
import { pushedItems, rejectedItems } from './outputs';
import { readSettings } from './readSettings';
import { runFeed } from './runFeed';

/** Nobody is called for what a model wanted to push, and its reasons say why. */
class NobodyPushed extends ExplainedError {
	override readonly name = 'NobodyPushed';

	constructor(
		message: string,
		resolution: string,
		readonly outcome: Outcome,
	) {
		super(message, resolution);
	}
}

/** A model is given one output alone, so what was rejected stands beside what was pushed. */
export async function pushForModel(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const settings = await readSettings(context, new NodeParameters(context));
	const rows = feedRows(context).map(({ json }) => json);
	// The same number with other texts is another wish, and is in the campaign already.
	const feed = { isKnown: false };
	const send = async () => {
		const { outcome, hasSent } = await runFeed(context);
		feed.isKnown = !hasSent;
		if (outcome.stopped !== undefined) throw outcome.stopped;
		if (outcome.pushed.every((request) => request.rows.length === 0)) throw nobodyPushed(outcome);
		const [first, ...others] = pushedItems(outcome).map(({ json }) => json);
		const rejected = rejectedItems(context, outcome, true).map(({ json }) => json);
		const further = others.length > 0 && { further_requests: others };
		return [{ json: { ...first, ...further, rejected } }];
	};
	const open = async () => await Promise.resolve();
	const output = await sendEachItem(context, () => ({ request: { settings, rows }, send }), {
		open,
	});
	if (feed.isKnown) noteDeed(context, { output, repeated: true });
	return [output];
}

function nobodyPushed(outcome: FeedOutcome): NobodyPushed {
	const reasons = [...new Set(outcome.unsentRows.map(({ reason }) => reason))];
	return new NobodyPushed(
		sumUp(outcome),
		reasons.join(' '),
		outcome.pushed.length === 0 ? 'notSent' : 'refused',
	);
}
