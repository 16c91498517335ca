import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SignIn } from './signIn';

/** Salesforce requires the last name and the company of a lead. The field in the URL must not be in the body. */
const lead = z
	.object({ LastName: z.string().min(1), Company: z.string().min(1), Email: z.undefined() })
	.catchall(z.unknown());
const byEmail = z.object({ email: z.string() });

/** login.salesforce.com and example.my.salesforce.com: stores leads by email address. */
export class Salesforce {
	readonly leads = new Map<string, Record<string, unknown>>();
	readonly signIn = new SignIn('/services/oauth2/token', {
		instance_url: 'https://example.my.salesforce.com',
	});

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		await app.register(this.signIn.routes);
		app.patch('/services/data/:version/sobjects/lead/Email/:email', async (request, reply) => {
			if (!this.signIn.isSignedIn(request)) {
				return await reply.code(401).send([{ errorCode: 'INVALID_SESSION_ID' }]);
			}
			const { email } = byEmail.parse(request.params);
			const created = !this.leads.has(email);
			this.leads.set(email, { ...this.leads.get(email), ...lead.parse(request.body) });
			const id = `00Q${[...this.leads.keys()].indexOf(email) + 1}`;
			return await reply.code(created ? 201 : 200).send({ id, success: true, errors: [], created });
		});
	};
}
