import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import type { Account } from './account';
import { published } from './calls';

/** The name of the trigger. */
export const WATCHING = 'Chat Events Trigger';

const watched = z.object({ session_id: z.string(), watched: z.literal(true) });

/**
 * Publishes Chat Events Trigger, and then runs Create → Chat Send → Watch, so that it joins the connection of Chat Send.
 * Resolves when the trigger is connected.
 */
export async function publishWatched({
	n8n,
	simulator,
	ours,
	publish,
}: Account): Promise<{ workflow: Workflow; session: string }> {
	const [path, webhookId] = [randomUUID(), randomUUID()];
	const listens = { sessions: 'watched', watchSecret: 'sesame', eventTypes: ['nudge_sent'] };
	const trigger = ours(WATCHING, 'chatEventsTrigger', listens, { webhookId });
	const workflow = await publish(chain('listens', trigger));
	await published(n8n, workflow);
	const sessionId = '={{ $json.session_id }}';
	const watch = {
		resource: 'watchList',
		sessionId,
		triggerUrl: `${n8n.baseUrl}/webhook/${webhookId}/watch`,
		triggerSecret: 'sesame',
	};
	await publish(
		chain(
			'begins',
			webhook(path),
			ours('Create', 'chatSession', { agentUuid: byId(fixtures.agents.full) }),
			ours('Send', 'chatSend', { sessionId, message: 'Hello' }),
			ours('Watch', 'chatSession', watch),
		),
	);
	const { session_id: session } = watched.parse(await (await n8n.webhook(path)).json());
	const isConnected = () => simulator.sessions.openSockets(session) === 1;
	await until('the trigger to be connected', isConnected);
	return { workflow, session };
}
