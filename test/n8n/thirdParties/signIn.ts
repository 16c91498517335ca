import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The OAuth2 server of a third party: issues and checks tokens. */
export class SignIn {
	private readonly tokens = new Set<string>();

	/**
	 * @param path where n8n requests tokens
	 * @param more what the response has beside the token
	 */
	constructor(
		private readonly path: string,
		private readonly more: Record<string, string> = {},
	) {}

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
			body.resume();
			body.once('end', () => done(null));
		});
		app.post(this.path, async () => {
			const token = randomUUID();
			this.tokens.add(token);
			return await Promise.resolve({
				access_token: token,
				refresh_token: randomUUID(),
				token_type: 'Bearer',
				expires_in: 3600,
				...this.more,
			});
		});
		await Promise.resolve();
	};

	isSignedIn({ headers }: FastifyRequest): boolean {
		return this.tokens.has(headers.authorization?.replace('Bearer ', '') ?? '');
	}
}
