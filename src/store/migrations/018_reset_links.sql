-- A new password ends every reset link of its account, in the statement that stores it: the link in an older email, or in
-- one that somebody else requested, must not undo the change. The value of a reset link is the account's id.
create index verifications_value on verifications (value);

create function end_reset_links() returns trigger language plpgsql as $$
begin
  delete from verifications where value = new.account_id;
  return null;
end
$$;
create trigger credentials_password_changed after insert or update of password on credentials
  for each row when (new.password is not null) execute function end_reset_links();
