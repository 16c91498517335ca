import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** oauth2.googleapis.com: issues and checks tokens. */
export class GoogleSignIn {
	private readonly tokens = new Set<string>();

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
			body.resume();
			body.once('end', () => done(null));
		});
		app.post('/token', async () => {
			const token = randomUUID();
			this.tokens.add(token);
			return await Promise.resolve({
				access_token: token,
				refresh_token: randomUUID(),
				token_type: 'Bearer',
				expires_in: 3600,
			});
		});
		await Promise.resolve();
	};

	isSignedIn({ headers }: FastifyRequest): boolean {
		return this.tokens.has(headers.authorization?.replace('Bearer ', '') ?? '');
	}
}
