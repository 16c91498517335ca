import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

const message = z.object({
	channel: z.string(),
	text: z.string().optional(),
	blocks: z.array(z.unknown()).optional(),
});

export type SlackMessage = z.infer<typeof message>;

export const slackToken = 'xoxb-token-of-the-tests';

/** slack.com: accepts messages. */
export class Slack {
	readonly messages: SlackMessage[] = [];

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.post('/api/chat.postMessage', async ({ headers, body }) => {
			if (headers.authorization !== `Bearer ${slackToken}`)
				return { ok: false, error: 'invalid_auth' };
			const posted = message.parse(body);
			this.messages.push(posted);
			return await Promise.resolve({
				ok: true,
				channel: posted.channel,
				ts: '1.1',
				message: posted,
			});
		});
		await Promise.resolve();
	};
}
