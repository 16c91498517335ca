import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SignIn } from './signIn';

/** Zoho requires the last name and the company of a lead. */
const lead = z
	.object({ Last_Name: z.string().min(1), Company: z.string().min(1), Email: z.string() })
	.catchall(z.unknown());
const leads = z.object({ data: z.tuple([lead]) });

/** accounts.zoho.com and www.zohoapis.com: stores leads by email address. */
export class Zoho {
	readonly leads = new Map<string, Record<string, unknown>>();
	readonly signIn = new SignIn('/oauth/v2/token', { api_domain: 'https://www.zohoapis.com' });

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		await app.register(this.signIn.routes);
		app.post('/crm/v2/leads/upsert', async (request, reply) => {
			if (!this.signIn.isSignedIn(request)) {
				return await reply.code(401).send({ code: 'INVALID_TOKEN', status: 'error' });
			}
			const [{ Email: email, ...fields }] = leads.parse(request.body).data;
			const action = this.leads.has(email) ? 'update' : 'insert';
			this.leads.set(email, { ...this.leads.get(email), ...fields });
			const id = String([...this.leads.keys()].indexOf(email) + 1);
			const message = `record ${action === 'insert' ? 'added' : 'updated'}`;
			return await reply.send({
				data: [{ code: 'SUCCESS', status: 'success', action, message, details: { id } }],
			});
		});
	};
}
